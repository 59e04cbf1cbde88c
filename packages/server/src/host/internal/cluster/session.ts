/** A session as an entity of a cluster. Its mailbox is rows of the database. */
import * as ClusterSchema from "effect/cluster/ClusterSchema"
import * as DeliverAt from "effect/cluster/DeliverAt"
import * as Entity from "effect/cluster/Entity"
import * as DateTime from "effect/DateTime"
import * as Rpc from "effect/rpc/Rpc"
import * as Schema from "effect/Schema"

/** Asks for the session to be advanced, now or at a time in milliseconds since the epoch. */
export class Wake extends Schema.Class<Wake>("Wake")({ at: Schema.optionalKey(Schema.Finite) }) {
  [DeliverAt.symbol](): DateTime.DateTime {
    return DateTime.makeUnsafe(this.at ?? 0)
  }
}

/** The id of the entity is that of the session. A request that was interrupted is delivered again. */
export const Session = Entity.make("BelaySession", [
  Rpc.make("Advance", { payload: Wake })
    .annotate(ClusterSchema.Persisted, true)
    .annotate(ClusterSchema.InterruptOnTermination, true)
])
