/*
 * The Worker's access by itself, in workerd: a Worker that is sent settings and headers, and says what each header allows.
 */

import { Access } from "../../src/access/access.ts";
import { matchesAny } from "../../src/access/grant.ts";

export default {
  async fetch(request) {
    const { settings, headers, patterns } = await request.json();
    try {
      const access = await Access.open(settings);
      const checked = [];
      for (const header of headers ?? []) checked.push(await access.check(header));
      const matched = (patterns ?? []).map(({ pattern, name }) => matchesAny([pattern], name));
      return Response.json({ checked, matched });
    } catch (error) {
      return Response.json({ refused: error.message });
    }
  },
};
