/** What the environment says about proxies. */
import { env, execArgv } from "node:process"

/** Whether Node is told to send requests through the proxies that the environment names. */
export const isAsked = (): boolean =>
  !["", "0"].includes(env.NODE_USE_ENV_PROXY ?? "") ||
  [...execArgv, ...(env.NODE_OPTIONS ?? "").split(/\s+/)].includes("--use-env-proxy")
