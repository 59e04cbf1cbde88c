/** Loads packages that only some protocols need. */

/** Loads a module. If it is not installed, the error names the package. */
export const loadPeer = async <A>(name: string, load: () => Promise<A>): Promise<A> => {
  try {
    return await load()
  } catch (cause) {
    throw new Error(`this protocol needs the package ${name}: install it`, { cause })
  }
}

/**
 * What to do if an import of such a package fails. `loadPeer` explains it. Bundlers accept that a package is not
 * installed only where the failure of its import is handled.
 */
export const passOn = (error: Error): Promise<never> => Promise.reject(error)
