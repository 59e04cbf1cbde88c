/** The proxy settings of Node. */

/** Whether Node is configured to use the proxies of the environment. */
export const usesEnvProxy = (): boolean => {
  const { env, execArgv } = process
  return !["", "0"].includes(env.NODE_USE_ENV_PROXY ?? "") ||
    [...execArgv, ...(env.NODE_OPTIONS ?? "").split(/\s+/)].includes("--use-env-proxy")
}
