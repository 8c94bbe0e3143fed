/*
 * What stores and web servers do wrong, by name: the same names and remedies as `stores/src/fault.rs`,
 * so that a fault is called the same on every host.
 */

/** What to change, for whoever runs the store. */
export const REMEDIES = {
  range_ignored:
    "serve the index from something that supports range requests, and turn off what rewrites or " +
    "compresses answers on the way",
  etag_changed:
    "search again; if it stays, several servers with different copies answer under one name, or " +
    "something overwrites published splits",
  short_body: "try again; if it stays, look for a proxy that cuts answers or a limit on their time",
  long_body: "look for a proxy or cache that mixes up ranges, and let it pass Range through",
  wrong_content_range:
    "look for a proxy or cache that mixes up ranges, and let it pass Range through",
  content_encoded:
    "turn off compression for the index's files, and store them without Content-Encoding",
  redirected_to_other_host:
    "use the address it points to, if you trust it (for S3: the region or endpoint of the bucket)",
  too_many_redirects: "use the address at which the objects are",
  past_the_end: "the object was cut short: upload it again, or ingest again and replace it",
} as const;

/** The stable name of a fault. */
export type StoreFault = keyof typeof REMEDIES;
