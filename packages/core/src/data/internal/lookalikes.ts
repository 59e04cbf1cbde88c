/**
 * Prototypes of objects that count as plain objects. In development, the events of hooks have such prototypes, which
 * notice mistakes.
 */
export const lookalikes = new WeakSet<object>()
