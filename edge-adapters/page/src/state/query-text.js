/*
 * Queries as text: values quoted where the query language wants it, filters joined to what was typed.
 */

/** `value` is null where a field shall exist. @typedef {{ field: string, value: string | null, isNot: boolean }} Filter */

/** A value as it stands in a query. @param {string} value */
export function quoted(value) {
  if (/^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u.test(value) && !/^(AND|OR|NOT|IN|TO)$/.test(value))
    return value;
  return `"${value.replace(/[\\"]/g, "\\$&")}"`;
}

/** The name of a field as it stands in a query. @param {string} field */
export function escapedName(field) {
  return field.replace(/[\s:()[\]{}"'^~*?<>=+!]|^-/g, "\\$&");
}

/** @param {Filter} filter */
export function filterText({ field, value, isNot }) {
  return `${isNot ? "NOT " : ""}${escapedName(field)}:${value === null ? "*" : quoted(value)}`;
}

/**
 * The query that finds what the typed one finds, within all filters.
 * @param {string} typed
 * @param {readonly Filter[]} filters
 */
export function joined(typed, filters) {
  const text = typed.trim();
  const isAll = text === "" || text === "*";
  if (filters.length === 0) return isAll ? "*" : text;
  const parts = filters.map(filterText);
  return (isAll ? parts : [`(${text})`, ...parts]).join(" AND ");
}

/**
 * Adds a filter; one that says the same or the contrary gives way.
 * @param {readonly Filter[]} filters
 * @param {Filter} added
 */
export function withFilter(filters, added) {
  return [...without(filters, added), added];
}

/**
 * @param {readonly Filter[]} filters
 * @param {Filter} left
 */
export function without(filters, left) {
  return filters.filter(({ field, value }) => field !== left.field || value !== left.value);
}
