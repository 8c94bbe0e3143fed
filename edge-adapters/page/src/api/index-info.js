/*
 * What is known of an index before anything is searched: its size, its times, and its fields with what they
 * can do.
 */

/**
 * `type` is the doc mapping's, or `unknown` of a field that was only seen in hits. A field that is fast can be
 * counted, sorted by and aggregated; `isWords` is text that was cut into words, whose passages can be marked.
 * `format` is how dates stand in hits. `hasPositions` is text whose phrases can be searched; `patternsOf` is the field whose
 * patterns a column has.
 * @typedef {{ name: string, type: string, isFast: boolean, isIndexed: boolean, isWords: boolean,
 *   format?: string | undefined, hasPositions?: boolean | undefined, patternsOf?: string | undefined }} Field
 */

/**
 * Times are in seconds since 1970; there are none without a timestamp field. Under a forced filter neither they nor
 * the sizes are told.
 * @typedef {{
 *   name: string, numDocs: number | null, numSplits: number, numBytes: number, timestampField: string | null,
 *   minTime: number | null, maxTime: number | null, fields: Field[], defaultFields: string[],
 *   isDynamicFast: boolean,
 * }} IndexInfo
 */

/**
 * @param {any} raw an entry of /api/v1/indexes
 * @returns {IndexInfo}
 */
export function readIndexInfo(raw) {
  const config = raw.index_config ?? {};
  return {
    name: String(config.index_id ?? raw.index_uid),
    numDocs: raw.num_published_docs ?? null,
    numSplits: Number(raw.num_published_splits ?? 0),
    numBytes: Number(raw.size_published_splits ?? 0),
    timestampField: raw.timestamp_field_name ?? config.doc_mapping?.timestamp_field ?? null,
    minTime: raw.min_timestamp ?? null,
    maxTime: raw.max_timestamp ?? null,
    fields: flatten(config.doc_mapping?.field_mappings ?? [], ""),
    defaultFields: config.search_settings?.default_search_fields ?? [],
    isDynamicFast:
      config.doc_mapping?.mode === "dynamic" && Boolean(config.doc_mapping.dynamic_mapping?.fast),
  };
}

/** Tokenizers that leave values whole. */
const WHOLE = new Set([
  "raw",
  "lowercase",
  "raw_lowercase",
  "raw_ascii_folding",
  "raw_folded",
  "level",
]);

/**
 * @param {any[]} mappings
 * @param {string} prefix
 * @returns {Field[]}
 */
function flatten(mappings, prefix) {
  return mappings.flatMap((mapping) => {
    // A dot inside a name is not a step into an object.
    const name = prefix + String(mapping.name).replaceAll(".", "\\.");
    if (mapping.type === "object") return flatten(mapping.field_mappings ?? [], `${name}.`);
    const type = String(mapping.type).replace(/^array<(.*)>$/, "$1");
    const isWords = type === "text" && !WHOLE.has(mapping.tokenizer);
    return [
      {
        name,
        type,
        isFast: mapping.fast !== false && mapping.fast !== undefined,
        isIndexed: mapping.indexed !== false,
        isWords,
        format: mapping.output_format,
        ...(isWords && mapping.record === "position" ? { hasPositions: true } : {}),
      },
      ...columnsOfPatterns(mapping.sub_fields ?? [], name),
    ];
  });
}

/**
 * The columns of patterns among the other views of a field's values.
 * @param {any[]} views
 * @param {string} name
 * @returns {Field[]}
 */
function columnsOfPatterns(views, name) {
  return views
    .filter((view) => view.fast?.normalizer === "pattern")
    .map((view) => ({
      name: `${name}.${String(view.name).replaceAll(".", "\\.")}`,
      type: "text",
      isFast: true,
      isIndexed: false,
      isWords: false,
      patternsOf: name,
    }));
}

/** The field with the patterns of another. @param {readonly Field[]} fields @param {string} name */
export function patternField(fields, name) {
  return fields.find(({ patternsOf }) => patternsOf === name);
}

/**
 * The fields of an index, and those that hits have without being mapped.
 * @param {IndexInfo} info
 * @param {readonly Record<string, unknown>[]} hits
 * @returns {Field[]}
 */
export function fieldsWith(info, hits) {
  const mapped = info.fields.map((field) => field.name);
  /** @type {Map<string, Field>} */
  const seen = new Map();
  for (const hit of hits) {
    for (const path of new Set(pathsOf(hit))) {
      const known = seen.get(path);
      if (known !== undefined && known.type !== "unknown") continue;
      if (mapped.some((name) => path === name || path.startsWith(`${name}.`))) continue;
      seen.set(path, seenField(path, valueAt(hit, path), info.isDynamicFast));
    }
  }
  return [...info.fields, ...seen.values()];
}

/**
 * A field that no mapping names, with the type that its values have in hits.
 * @param {string} name
 * @param {unknown} value
 * @param {boolean} isFast
 * @returns {Field}
 */
function seenField(name, value, isFast) {
  const type = typeOf(Array.isArray(value) ? value[0] : value);
  return { name, type, isFast, isIndexed: true, isWords: type === "text" };
}

/** @param {unknown} value */
function typeOf(value) {
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number") return Number.isInteger(value) ? "i64" : "f64";
  if (typeof value !== "string") return "unknown";
  return /^\d{4}-\d\d-\d\d[T ]\d\d:/.test(value) ? "datetime" : "text";
}

/**
 * @param {unknown} value
 * @param {string} [prefix]
 * @returns {string[]}
 */
export function pathsOf(value, prefix = "") {
  if (Array.isArray(value)) {
    const paths = value.flatMap((one) => pathsOf(one, prefix));
    return paths.length === 0 ? [prefix] : [...new Set(paths)];
  }
  if (value === null || typeof value !== "object") return [prefix];
  return Object.entries(value).flatMap(([name, inner]) => {
    const own = name.replaceAll(".", "\\.");
    return pathsOf(inner, prefix === "" ? own : `${prefix}.${own}`);
  });
}

/**
 * `resource.service` of `{resource: {service: "x"}}`; of arrays of objects the values of all.
 * @param {unknown} hit
 * @param {string} path
 * @returns {unknown}
 */
export function valueAt(hit, path) {
  const [first, ...rest] = path.split(/(?<!\\)\./);
  if (first === undefined || hit === null || typeof hit !== "object") return undefined;
  const inner = /** @type {Record<string, unknown>} */ (hit)[first.replaceAll("\\.", ".")];
  if (rest.length === 0) return inner;
  if (!Array.isArray(inner)) return valueAt(inner, rest.join("."));
  const values = inner
    .map((one) => valueAt(one, rest.join(".")))
    .filter((one) => one !== undefined);
  return values.length === 0 ? undefined : values.flat();
}

/** Names of fields that tell how grave an event is, the better ones first. */
const LEVELS =
  /(^|[._])(severity_text|severity|level|log_level|loglevel|status|status_code|priority)$/i;
const MESSAGES = /(^|[._])(message|body|msg|log|line|text|request|title|name)$/i;

/** The field that colours the histogram, if nobody says which. @param {readonly Field[]} fields */
export function guessLevelField(fields) {
  return fields.find((field) => field.isFast && LEVELS.test(field.name))?.name;
}

/** The field with the text of an event. @param {readonly Field[]} fields */
export function guessMessageField(fields) {
  const words = fields.filter((field) => field.isWords);
  return (words.find((field) => MESSAGES.test(field.name)) ?? words[0])?.name;
}

/**
 * Columns of a table that nobody has chosen yet: the time, how grave an event is, what it says. Where an index has
 * none of that, the first fields.
 * @param {IndexInfo} info
 * @param {readonly Field[]} fields
 * @param {readonly Record<string, unknown>[]} hits columns that are empty in all of them are left out
 */
export function guessColumns(info, fields, hits) {
  const isFilled = (/** @type {string} */ name) =>
    hits.length === 0 || hits.some((hit) => ![undefined, null, ""].includes(textAt(hit, name)));
  const filled = fields.filter((field) => isFilled(field.name));
  const time = info.timestampField ?? filled.find(({ type }) => type === "datetime")?.name;
  const guessed = [time, guessLevelField(filled), guessMessageField(filled)];
  const found = [...new Set(guessed.filter((name) => name !== undefined))];
  if (found.length >= 2 && time !== undefined) return found;
  const rest = filled.map((field) => field.name).filter((name) => !found.includes(name));
  const isId = (/** @type {string} */ name) => /^_?id$/i.test(name);
  return [...found, ...rest.filter((name) => !isId(name))].slice(0, 6);
}

/** @param {unknown} hit @param {string} path */
function textAt(hit, path) {
  return /** @type {string | null | undefined} */ (valueAt(hit, path));
}
