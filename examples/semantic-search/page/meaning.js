/*
 * Vectors of meanings: a text's vector is the sum of its words' vectors, each weighted by how rare the word is.
 *
 * make.mjs and the page use the same functions, so that documents and questions mean the same.
 */

/** Returns the words of a text, lower-case, plurals without their "s". */
export function wordsOf(text) {
  const words = text.toLowerCase().match(/[a-z]{2,}/g) ?? [];
  return words.map((word) => (/[^s]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word));
}

/** The vectors of all known words: whole numbers from -127 to 127, which the weight of the word scales. */
export class Meanings {
  /** `known` has `dims`, and the `words` and `weights` in the order of the rows of `vectors`. */
  constructor({ dims, words, weights }, vectors) {
    this.dims = dims;
    this.weights = weights;
    this.vectors = vectors;
    this.places = new Map(words.map((word, place) => [word, place]));
  }

  /** Reads what make.mjs wrote, from the folder at `url`. */
  static async load(url) {
    const [known, vectors] = await Promise.all([
      fetch(new URL("words.json", url)).then((response) => response.json()),
      fetch(new URL("vectors.bin", url)).then((response) => response.arrayBuffer()),
    ]);
    return new Meanings(known, new Int8Array(vectors));
  }

  /** Returns the vector of a text, of length 1; `undefined` if it has no known word. */
  vectorOf(text) {
    const sum = new Float64Array(this.dims);
    for (const word of new Set(wordsOf(text))) {
      const place = this.places.get(word);
      if (place === undefined) continue;
      for (let dim = 0; dim < this.dims; dim += 1) {
        sum[dim] += this.weights[place] * this.vectors[place * this.dims + dim];
      }
    }
    const length = Math.hypot(...sum);
    if (length === 0) return undefined;
    return Array.from(sum, (value) => Number((value / length).toFixed(4)));
  }
}

/** Returns the body of a search for a text: by its words, by its meaning, or by both ranks. */
export function question(text, vector, way, size = 12) {
  const words = { multi_match: { query: text, fields: ["words", "gloss"] } };
  const knn = { field: "meaning", query_vector: vector, k: 50, num_candidates: 100 };
  if (vector === undefined || way === "words") return { query: words, size };
  if (way === "meaning") return { knn, size };
  const retrievers = [{ standard: { query: words } }, { knn }];
  return { retriever: { rrf: { retrievers, rank_window_size: 50 } }, size };
}
