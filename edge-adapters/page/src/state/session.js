/*
 * What the page is at: the state in the URL, the index, the answer that is shown. Views ask it to change, and
 * hear when it has.
 *
 *   view ──go(patch)──▶ state ──▶ URL
 *    ▲                    └─ another search? ──▶ Api ──▶ result
 *    └────────── "state", "result", "phase" ◀──────────────┘
 */

import { fieldsWith, guessColumns, guessLevelField, readIndexInfo } from "../api/index-info.js";
import { pageBody, resolve, searchBody } from "../api/request.js";
import { zoneName } from "./prefs.js";
import { MAX_HITS, PAGE_OF_HITS, emptyState, readState, searchKey, writeState } from "./url.js";

/** @import { Answer, Api } from "../api/api.js" */
/** @import { Cost } from "../api/cost.js" */
/** @import { Field, IndexInfo } from "../api/index-info.js" */
/** @import { Asked } from "../api/request.js" */
/** @import { Filter } from "./query-text.js" */
/** @import { State } from "./url.js" */

/** @typedef {{ answer: Answer, cost: Cost, asked: Asked, info: IndexInfo, key: string }} Result */

/**
 * What a page with an index of its own may preset: its title, the field that colours the histogram, the columns
 * behind the time, queries to begin with, and a line at the bottom.
 * @typedef {{ title?: string, levelField?: string, columns?: readonly string[],
 *   examples?: readonly string[], about?: string }} PageOptions
 */

/** @typedef {"state" | "result" | "phase" | "indexes" | "doc"} Event */

export class Session {
  /**
   * @param {Api} api
   * @param {PageOptions} options
   */
  constructor(api, options) {
    this.api = api;
    this.options = options;
    /** @type {State} */
    this.state = emptyState();
    /** @type {IndexInfo[]} */
    this.indexes = [];
    /** @type {Result | null} */
    this.result = null;
    /** @type {Error | null} */
    this.error = null;
    /**
     * What `fields` said last, and of what.
     * @type {{ info: IndexInfo | null, hits: Answer["hits"] | null, fields: Field[] }}
     */
    this.known = { info: null, hits: null, fields: [] };
    /** Columns that were guessed, by index. @type {Map<string, string[]>} */
    this.guessed = new Map();
    this.isBusy = true;
    this.isStarted = false;
    /** What all answers since the page was opened have cost. */
    this.total = { numSearches: 0, numRequests: 0, numBytes: 0 };
    /** @type {AbortController | null} */
    this.running = null;
    /** @type {Map<Event, Set<() => void>>} */
    this.listeners = new Map();
    api.onCost = (cost) => {
      this.total.numSearches += 1;
      this.total.numRequests += cost.numRequests;
      this.total.numBytes += cost.numBytes;
    };
  }

  /** @param {Event} event @param {() => void} listener */
  on(event, listener) {
    const set = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, set.add(listener));
  }

  /** @param {Event} event */
  emit(event) {
    for (const listener of this.listeners.get(event) ?? []) listener();
  }

  async start() {
    this.state = readState(location.search);
    addEventListener("popstate", () => this.#arrive(readState(location.search)));
    await this.load();
  }

  /** Reads which indexes there are, and searches. */
  async load() {
    this.#setPhase(true, null);
    try {
      const raw = await this.api.indexes();
      this.indexes = raw.map(readIndexInfo).sort((a, b) => a.name.localeCompare(b.name));
      this.isStarted = true;
      this.emit("indexes");
      this.emit("state");
      await this.run();
    } catch (error) {
      this.#setPhase(false, asError(error));
    }
  }

  /** The index that is searched. */
  get info() {
    const { index } = this.state;
    return index === "" ? this.indexes[0] : this.indexes.find((info) => info.name === index);
  }

  /** The fields of the index, and others that its hits have. @returns {Field[]} */
  get fields() {
    const { info, result } = this;
    if (info === undefined) return [];
    const hits = result?.info === info ? result.answer.hits : null;
    // They are asked for at every row of every list.
    if (this.known.info !== info || this.known.hits !== hits) {
      this.known = { info, hits, fields: fieldsWith(info, hits ?? []) };
    }
    return this.known.fields;
  }

  /** @param {string} name */
  field(name) {
    return this.fields.find((field) => field.name === name);
  }

  /** @returns {string[]} */
  get columns() {
    const info = this.info;
    if (info === undefined) return [];
    if (this.state.columns.length > 0) return this.state.columns;
    const known = (/** @type {string} */ name) => info.fields.some((field) => field.name === name);
    const preset = this.options.columns?.filter(known) ?? [];
    if (preset.length > 0) {
      return info.timestampField === null ? preset : [...new Set([info.timestampField, ...preset])];
    }
    const guessed = this.guessed.get(info.name);
    if (guessed !== undefined) return guessed;
    const hits = this.result?.info === info ? this.result.answer.hits : [];
    const columns = guessColumns(info, this.fields, hits);
    // They stay what they are, whatever is searched for next.
    if (hits.length > 0) this.guessed.set(info.name, columns);
    return columns;
  }

  get levelField() {
    const preset = this.options.levelField;
    const fields = this.fields;
    return fields.some(({ name }) => name === preset) ? preset : guessLevelField(fields);
  }

  /**
   * Changes what is shown. Another search begins at its first page, with no document open.
   * @param {Partial<State>} patch
   * @param {{ replaces?: boolean }} [options]
   */
  go(patch, options = {}) {
    const before = searchKey(this.state);
    let state = { ...this.state, ...patch };
    if (patch.index !== undefined && patch.index !== this.state.index) {
      // Another index has other fields.
      const { index, view, query, language, from, to } = state;
      state = { ...emptyState(), query, language, from, to, index, view };
    }
    const isNew = searchKey(state) !== before;
    if (isNew) state = { ...state, doc: null, numHits: PAGE_OF_HITS };
    this.state = state;
    const url = writeState(state);
    if (url !== location.search) {
      const href = url === "" ? location.pathname : url;
      if (options.replaces) history.replaceState(null, "", href);
      else history.pushState(null, "", href);
    }
    this.emit("state");
    if (isNew) void this.run();
  }

  /** Goes to where a link of this page leads. @param {string} search */
  visit(search) {
    history.pushState(null, "", search === "" ? location.pathname : search);
    this.#arrive(readState(search));
  }

  /** @param {State} state */
  #arrive(state) {
    const before = searchKey(this.state);
    this.state = state;
    this.emit("state");
    if (searchKey(state) !== before) void this.run();
  }

  /** Searches, whether or not something has changed. */
  async run() {
    this.running?.abort();
    const mine = new AbortController();
    this.running = mine;
    const info = this.info;
    if (info === undefined) {
      const name = this.state.index;
      const what =
        name === ""
          ? "this server has no index that you may search"
          : `there is no index “${name}” here`;
      this.#setPhase(false, new Error(what));
      return;
    }
    this.#setPhase(true, null);
    try {
      const asked = resolve(this.state, info, this.levelField);
      const options = { numHits: this.state.numHits, zone: zoneName() };
      const body = searchBody(asked, info, options);
      const key = searchKey(this.state);
      const found = await this.api.search(info.name, body, mine.signal).catch((error) => {
        // Under a forced filter a profile is refused; the search is not.
        if (!/profile/.test(String(error?.message))) throw error;
        return this.api.search(info.name, { ...body, profile: false }, mine.signal);
      });
      if (this.running !== mine) return;
      this.result = { ...found, asked, info, key };
      this.#setPhase(false, null);
      this.emit("result");
    } catch (error) {
      if (this.running === mine) this.#setPhase(false, asError(error));
    }
  }

  get canLoadMore() {
    const result = this.result;
    if (result === null) return false;
    const { hits, num_hits } = result.answer;
    return hits.length < Math.min(num_hits, MAX_HITS);
  }

  /** The next page of hits, below those that are there. */
  async more() {
    const result = this.result;
    if (result === null || this.isBusy || !this.canLoadMore) return;
    const numShown = result.answer.hits.length;
    this.isBusy = true;
    this.emit("phase");
    try {
      const length = Math.min(PAGE_OF_HITS, MAX_HITS - numShown);
      const body = pageBody(result.asked, result.info, numShown, length);
      const { answer } = await this.api.search(result.info.name, body);
      if (this.result !== result) return;
      const snippets = [...(result.answer.snippets ?? []), ...(answer.snippets ?? [])];
      const hits = [...result.answer.hits, ...answer.hits];
      this.result = { ...result, answer: { ...result.answer, hits, snippets } };
      this.go({ numHits: hits.length }, { replaces: true });
      this.#setPhase(false, null);
      this.emit("result");
    } catch (error) {
      if (this.result === result) this.#setPhase(false, asError(error));
    }
  }

  /** @param {Filter[]} filters */
  setFilters(filters) {
    this.go({ filters });
  }

  /** @param {boolean} isBusy @param {Error | null} error */
  #setPhase(isBusy, error) {
    this.isBusy = isBusy;
    this.error = error;
    this.emit("phase");
  }
}

/** @param {unknown} error */
function asError(error) {
  return error instanceof Error ? error : new Error(String(error));
}
