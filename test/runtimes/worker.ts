/** Runs the suite in a worker: the address of the endpoint is in the query, and the response has the outcomes. */
import { suite } from "./suite.ts"

export default {
  fetch: async (request: Request): Promise<Response> =>
    Response.json(await suite(new URL(request.url).searchParams.get("endpoint") ?? ""))
}
