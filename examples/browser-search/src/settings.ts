/*
 * What `settings.json` says: which index is searched, and which of its fields are shown.
 */

export interface Settings {
  readonly title: string;
  /** The name of the index in requests. */
  readonly index: string;
  /** Where the index is, relative to the page or absolute. */
  readonly url: string;
  /** A fast text field with few values, that colours the histogram. */
  readonly levelField: string;
  /** The text of a hit. */
  readonly messageField: string;
  /** A short label of a hit, such as its service. */
  readonly labelField: string;
  readonly examples: readonly string[];
}
