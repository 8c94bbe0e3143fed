/*
 * What tests of the page share: one server, one browser, and what the API itself says.
 */

import { after, before } from "node:test";

import { launch, openPage, settled, skip } from "./page.mjs";
import { makeIndexes, serveIndexes } from "./server.mjs";

export const NUM_LOGS = 5000;

/** Serves the indexes as long as the tests of a file run. */
export function suite() {
  let indexes;
  let server;
  let browser;
  before(async () => {
    if (skip) return;
    indexes = makeIndexes(NUM_LOGS);
    server = await serveIndexes(indexes.folder, ["logs", "cities", "events"]);
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await server?.stop();
    indexes?.remove();
  });
  return {
    /** The page in a fresh profile, with its first answer. */
    async open(t, query = "?index=logs", options = {}) {
      const opened = await openPage(t, browser, server.url + query, options);
      await settled(opened.page);
      return opened;
    },
    /** A page that may have no answer. */
    visit: (t, query, options) => openPage(t, browser, server.url + query, options),
    /** What the API says to a search. */
    async ask(body, index = "logs") {
      const url = new URL(`../api/v1/${index}/search`, server.url);
      const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
      return response.json();
    },
  };
}

export const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** A parameter of the page's URL. */
export const parameter = (page, name) =>
  page.evaluate((key) => new URLSearchParams(location.search).get(key), name);
