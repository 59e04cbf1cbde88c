/** Connects a process to the cluster. This is the only module of the engine that loads the packages it needs. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Clock from "effect/Clock"
import * as Entity from "effect/cluster/Entity"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as Sharding from "effect/cluster/Sharding"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type { Advance, Engine } from "../../Engine.ts"
import { answerOf, type Runner } from "./answer.ts"
import { makeDatabaseClock } from "./databaseClock.ts"
import { careForever, isKnown } from "./mailbox.ts"
import { watchRunners } from "./runners.ts"
import { Session, Wake } from "./session.ts"
import { runnerLayer, senderLayer, type Settings } from "./settings.ts"

/** Runners listen here, so that they need not wait for their next look into the mailbox. */
const channelOf = ({ prefix }: Settings): string => `${prefix}_wake`

/** Connects a process that sends. Returns its `wake`. */
export const connectSender = (settings: Settings): Effect.Effect<Engine["wake"], unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const services = yield* Layer.build(senderLayer(settings))
    const clientOf = yield* Effect.provideContext(Session.client, services)
    return (sessionId: string, at?: number) =>
      Effect.gen(function*() {
        if (at !== undefined && (yield* isKnown(settings.prefix, sessionId, at))) return
        yield* clientOf(sessionId).Advance(new Wake(at === undefined ? {} : { at }), { discard: true })
        const { notify } = yield* PgClient.PgClient
        // The wake-up is stored. Without the notice it is seen at the next look.
        yield* Effect.ignore(notify(channelOf(settings), sessionId))
      }).pipe(Effect.provideContext(services))
  })

/** Connects a process that runs sessions. */
export const connectRunner = (
  settings: Settings,
  advance: Advance
): Effect.Effect<void, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const permits = Semaphore.makeUnsafe(settings.concurrency)
    const runner: Runner = { advance, permits, open: new Map(), isClosing: false }
    const { clock, follow } = yield* makeDatabaseClock
    const layer = runnerLayer(settings, RunnerAddress.make(crypto.randomUUID(), 0))
    const services = yield* Effect.provideService(Layer.build(layer), Clock.Clock, clock)
    yield* Effect.provideContext(
      Effect.gen(function*() {
        yield* Effect.forkScoped(follow)
        yield* Effect.forkScoped(careForever(settings.prefix, (id) => runner.open.has(id)))
        yield* Effect.forkScoped(watchRunners(settings.prefix))
        yield* Effect.forkScoped(listenForever(channelOf(settings)))
        const sharding = yield* Sharding.Sharding
        const answers = Effect.map(Entity.CurrentAddress, ({ entityId }) => {
          const answer = answerOf(runner, entityId)
          return { Advance: () => answer }
        })
        yield* sharding.registerEntity(Session, answers, { concurrency: "unbounded", mailboxCapacity: "unbounded" })
      }),
      services
    )
    // Closed first, so that nothing begins any more.
    yield* Effect.addFinalizer(() => Effect.sync(() => void (runner.isClosing = true)))
  })

/** Looks into the mailbox when a session of this runner was woken. A lost connection is made again. */
const listenForever = (channel: string): Effect.Effect<never, never, PgClient.PgClient | Sharding.Sharding> => {
  const listen = Effect.gen(function*() {
    const sharding = yield* Sharding.Sharding
    const { listen } = yield* PgClient.PgClient
    const notices = yield* listen(channel)
    while (true) {
      yield* Queue.take(notices)
      yield* sharding.pollStorage
    }
  })
  return Effect.forever(Effect.andThen(Effect.ignore(Effect.scoped(listen)), Effect.sleep(500)))
}
