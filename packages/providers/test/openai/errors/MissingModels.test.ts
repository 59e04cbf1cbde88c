/** Vendors say in many ways that they do not have a model. Another provider can have it. */
import { createAgent } from "@belay/core/createAgent"
import type { JsonObject } from "@belay/core/Json"
import type { ProviderError } from "@belay/core/ProviderError"
import * as OpenAiCompatible from "@belay/providers/OpenAiCompatible"
import * as Endpoint from "@belay/testing/Endpoint"
import * as Scripted from "@belay/testing/Scripted"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { failure, request, scripted, stream } from "../../support/support.ts"

const openai = (
  message: string,
  code: string | null = null,
  type = "invalid_request_error",
  param: string | null = null
): JsonObject => ({ error: { message, type, param, code } })

interface Row {
  readonly status: number
  readonly body: JsonObject
  readonly tag: ProviderError["_tag"]
}

const rows: Record<string, Row> = {
  "400 of a retired model (Groq)": {
    status: 400,
    body: openai(
      "The model `mixtral-8x7b-32768` has been decommissioned and is no longer supported. Please refer to https://console.groq.com/docs/deprecations for a recommendation on which model to use instead.",
      "model_decommissioned"
    ),
    tag: "NotFound"
  },
  "400 of a retired model with a dot in its name": {
    status: 400,
    body: openai("The model gpt-4.5-preview has been deprecated. Use gpt-5 instead."),
    tag: "NotFound"
  },
  "400 of an unknown model with a dot in its name": {
    status: 400,
    body: openai("The model `gpt-4.9` does not exist or you do not have access to it."),
    tag: "NotFound"
  },
  "400 of an unknown model (OpenRouter)": {
    status: 400,
    body: { error: { message: "foo/bar is not a valid model ID", code: 400 }, user_id: "user_1" },
    tag: "NotFound"
  },
  "400 of an unknown model (Mistral)": {
    status: 400,
    body: {
      object: "error",
      message: "Invalid model: open-mixtral-8x7b",
      type: "invalid_model",
      param: null,
      code: "1500"
    },
    tag: "NotFound"
  },
  "400 of an unknown model (DeepSeek)": {
    status: 400,
    body: openai("Model Not Exist", "invalid_request_error"),
    tag: "NotFound"
  },
  "400 of an unknown model (GitHub)": {
    status: 400,
    body: { error: { code: "unknown_model", message: "Unknown model: foo", details: "Unknown model: foo" } },
    tag: "NotFound"
  },
  "400 of a model that no vendor offers (Hugging Face)": {
    status: 400,
    body: openai("The requested model 'a/b' is not supported by any provider you have enabled.", "model_not_supported"),
    tag: "NotFound"
  },
  "400 of an unknown model (Perplexity)": {
    status: 400,
    body: {
      error: {
        message: "Invalid model 'sonar-small'. Permitted models can be found in the documentation.",
        type: "invalid_model",
        code: 400
      }
    },
    tag: "NotFound"
  },
  "400 of an unknown model (LiteLLM)": {
    status: 400,
    body: {
      error: {
        message:
          "/chat/completions: Invalid model name passed in model=foo. Call `/v1/models` to view available models.",
        type: "None",
        param: "None",
        code: "400"
      }
    },
    tag: "NotFound"
  },
  "400 of an unknown model (Z.ai)": {
    status: 400,
    body: { error: { code: "1211", message: "Unknown Model, please check the model code." } },
    tag: "NotFound"
  },
  "410 of a retired model (NVIDIA)": {
    status: 410,
    body: {
      status: 410,
      title: "Gone",
      detail: "The model 'a/b' has reached its end of life on 2025-06-01 and is no longer available."
    },
    tag: "NotFound"
  },
  "400 of a parameter that a model does not have": {
    status: 400,
    body: openai("`temperature` is deprecated for this model.", null, "invalid_request_error", "temperature"),
    tag: "InvalidRequest"
  },
  "400 of a feature that a model does not have": {
    status: 400,
    body: openai("The model parameter is deprecated, and tools are not supported with this model"),
    tag: "InvalidRequest"
  }
}

describe("an error answer about a model:", () => {
  for (const [name, { body, status, tag }] of Object.entries(rows)) {
    it.live(`${name} is ${tag}`, () =>
      Effect.gen(function*() {
        const { provider } = yield* scripted([{ status, body }, { status, body }])
        assert.strictEqual(failure(yield* Effect.result(provider.complete(request())))._tag, tag)
        assert.strictEqual(failure((yield* stream(provider)).result)._tag, tag)
      }))
  }

  it("goes to the next provider", async () => {
    const { body, status } = rows["400 of a retired model (Groq)"]!
    await using endpoint = await Endpoint.start({ script: [{ status, body }] })
    const retired = OpenAiCompatible.make({ baseUrl: endpoint.url, model: "mixtral-8x7b-32768" })
    await using agent = createAgent({ provider: [retired, Scripted.make(["from the backup"])] })
    assert.strictEqual((await agent.run("hi")).text, "from the backup")
  })
})
