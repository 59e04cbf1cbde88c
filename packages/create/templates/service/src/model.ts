/** The model: the one of your key, or a rule-based one on this machine while you have none. */
import { OpenAiCompatible } from "@belay/sdk"
import { Endpoint } from "@belay/testing"

const hasKey = (process.env["OPENAI_API_KEY"] ?? process.env["OPENAI_BASE_URL"] ?? "") !== ""

export const makeModel = async () => {
  if (hasKey) return OpenAiCompatible.fromEnv()
  const endpoint = await Endpoint.start({ unref: true })
  return OpenAiCompatible.make({ baseUrl: endpoint.url, apiKey: "none", model: "demo" })
}
