/*
 * Starts the page over HTTP: the API is where <meta name="canter-api"> says, relative to the page.
 */

import { httpBackend } from "./api/http.js";
import { startPage } from "./app.js";

const meta = document.querySelector('meta[name="canter-api"]');
const base = new URL(meta?.getAttribute("content") ?? "../", document.baseURI);
const root = document.getElementById("canter");
if (root !== null) startPage(root, httpBackend(base));
