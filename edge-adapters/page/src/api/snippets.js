/*
 * Snippets: a passage of a field with `<b>` around what was searched for, as HTML. It is taken apart into plain
 * texts here, and never becomes markup.
 */

/** @typedef {{ text: string, isMarked: boolean }} Piece */

/** @type {Readonly<Record<string, string>>} */
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/**
 * @param {string} snippet
 * @returns {Piece[]}
 */
export function readSnippet(snippet) {
  return snippet
    .split(/(<b>.*?<\/b>)/s)
    .filter((part) => part !== "")
    .map((part) => {
      const marked = /^<b>(.*)<\/b>$/s.exec(part)?.[1];
      return { text: decode(marked ?? part), isMarked: marked !== undefined };
    });
}

/** @param {string} text */
function decode(text) {
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole;
    const code = hex === undefined ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/**
 * The whole value with the words marked that its snippets mark.
 * @param {string} value
 * @param {readonly string[]} snippets
 * @returns {Piece[]}
 */
export function markedWhole(value, snippets) {
  const words = new Set(
    snippets.flatMap((snippet) =>
      readSnippet(snippet)
        .filter((piece) => piece.isMarked)
        .map((piece) => piece.text),
    ),
  );
  if (words.size === 0) return [{ text: value, isMarked: false }];
  const longestFirst = [...words].sort((a, b) => b.length - a.length);
  const pattern = longestFirst.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const isWordEdge = (/** @type {string | undefined} */ letter) =>
    letter === undefined || !/[\p{L}\p{N}]/u.test(letter);
  /** @type {Piece[]} */
  const pieces = [];
  let done = 0;
  for (const { 0: found, index } of value.matchAll(new RegExp(pattern, "g"))) {
    // A word inside of another was not what matched.
    if (!isWordEdge(value[index - 1]) || !isWordEdge(value[index + found.length])) continue;
    if (index > done) pieces.push({ text: value.slice(done, index), isMarked: false });
    pieces.push({ text: found, isMarked: true });
    done = index + found.length;
  }
  if (done < value.length) pieces.push({ text: value.slice(done), isMarked: false });
  return pieces;
}
