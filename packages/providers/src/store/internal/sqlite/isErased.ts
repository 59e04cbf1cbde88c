/** What the file still knows of an erased session: that it was erased. */
import { rootOf } from "@belay/core/Erasure"
import { erasedHash } from "../erased.ts"
import type { Database } from "./database.ts"

/** Whether a session was erased and has not begun again. */
export const isErased = ({ sql }: Database, id: string): boolean =>
  sql("SELECT 1 FROM erased WHERE hash = ? AND NOT EXISTS (SELECT 1 FROM sessions WHERE id = ?)")
    .get(erasedHash(id), rootOf(id)) !== undefined
