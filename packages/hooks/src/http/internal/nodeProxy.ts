/** The proxy settings of Node. */
import { env, execArgv } from "node:process"

/** Whether Node is configured to use the proxies of the environment. */
export const usesEnvProxy = (): boolean =>
  !["", "0"].includes(env.NODE_USE_ENV_PROXY ?? "") ||
  [...execArgv, ...(env.NODE_OPTIONS ?? "").split(/\s+/)].includes("--use-env-proxy")
