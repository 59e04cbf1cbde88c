/** Loads packages that only some protocols need. */

/** Loads a module. If it is not installed, the error names the package. */
export const loadPeer = async <A>(name: string, load: () => Promise<A>): Promise<A> => {
  try {
    return await load()
  } catch (cause) {
    throw new Error(`this protocol needs the package ${name}: install it`, { cause })
  }
}
