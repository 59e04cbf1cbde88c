/** Tells an account without money or quota from one with too many requests. Vendors use the same words for both. */
import type { VendorError } from "./errorBody.ts"

/** Whether the account has no money or quota left, so that waiting does not help. */
export const isQuota = (status: number, error: VendorError, words: string, waitMs: number | undefined): boolean => {
  if (status === 402 || error.code === "402") return true
  if (status >= 500 || status === 404) return false
  if (money.test(words) || moneyCodes.has(error.code) || moneyCodes.has(error.type)) return true
  if (perDay.test(words)) return quota.test(words)
  if (limit.test(`${error.code} ${error.type} ${words}`) || (waitMs !== undefined && waitMs <= hourMs)) return false
  return quota.test(words)
}

const hourMs = 3_600_000

/** Codes that only mean money: OpenAI, Moonshot, Z.ai, Alibaba. */
const moneyCodes: ReadonlySet<string> = new Set([
  "insufficient_quota",
  "exceeded_current_quota_error",
  "billing_hard_limit_reached",
  "billing_not_active",
  "1113",
  "Arrearage"
])

/** Words that only mean money. */
const money = new RegExp(
  [
    "insufficient[_ ](?:credits?|balance|funds)|credit balance is too low|余额不足|欠费",
    "(?:out of|no more|run out of|used all (?:available|your)|purchase (?:more )?|" +
    "add (?:more )?|requires more) ?credits",
    "included credits|spending limit|payment required|please (?:recharge|top up)|exceeded_current_quota_error",
    "account is in arrears|\\binsufficient_quota\\b"
  ].join("|"),
  "i"
)

/** Words for a quota that can be used up for long or only for a minute. */
const quota = new RegExp(
  "insufficient quota|billing_(?:hard_limit|not_active)|exceeded your (?:current|monthly) quota|" +
    "exceeded current quota|quota[_ ]exceeded|usage limit|quota exceeded",
  "i"
)

const limit = /rate[_ -]?limit|per[ -](?:minute|second)|PerMinute|PerSecond|\bRPM\b|\bTPM\b/i

const perDay = /PerDay/
