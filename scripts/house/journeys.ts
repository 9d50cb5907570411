/**
 * How much a reader of one act has to open. A journey is a chain of legs; the files of a leg are all that lie on a way of
 * value imports from its entry to its end. A leg begins where the one before it hands over by the log, the wire of
 * another process or a value that is passed in. docs/architecture.md tells the journeys; nothing here reads it.
 */
import { valueImportsOf } from './imports.ts'
import type { Source } from './sources.ts'

/** `lost`: legs whose end their entry does not reach. */
export type Journey = { title: string; files: string[]; lines: number; lost: string[] }

/** Paths without a package lie in the server. */
type Leg = readonly [entry: string, end: string]

const legs: Record<string, readonly Leg[]> = {
  'a message, to the model and back': [
    ['sessions/events/routes.ts', 'sessions/log/inbox.ts'],
    ['engine/runner/runner.ts', 'sessions/log/append.ts'],
    ['engine/runner/steps.ts', 'engine/runner/decision.ts'],
    ['engine/runner/plain-turns.ts', 'sessions/log/snapshot.ts'],
    ['ground/database/lease.ts', 'ground/database/lease.ts'],
    ['ground/database/counted-insertion.ts', 'ground/database/counted-insertion.ts'],
    ['engine/runner/assemble.ts', 'engine/runner/histories.ts'],
    ['engine/runner/harnesses.ts', 'packages/harness/src/loop.ts'],
    ['packages/harness/src/loop.ts', 'packages/harness/src/answer.ts'],
    ['packages/harness/src/loop.ts', 'packages/harness/src/calls.ts'],
    ['packages/model/src/wire.ts', 'packages/model/src/wire/request.ts'],
    ['packages/model/src/wire/pi.ts', 'packages/model/src/wire/pi.ts'],
    ['sessions/events/routes.ts', 'sessions/log/tail.ts'],
    ['sessions/events/routes.ts', 'ground/http/sse.ts'],
  ],
  'a secret, posted, sealed, injected': [
    ['resources/vaults/routes.ts', 'resources/vaults/auth.ts'],
    ['ground/core/security/seal.ts', 'ground/core/security/seal.ts'],
    ['engine/egress/egress.ts', 'engine/egress/policy/rules.ts'],
    ['engine/egress/egress.ts', 'engine/egress/policy/store.ts'],
    ['engine/egress/egress.ts', 'resources/vaults/open-credential.ts'],
    ['engine/egress/egress.ts', 'engine/egress/inject/plan.ts'],
    ['engine/egress/egress.ts', 'engine/egress/inject/records.ts'],
    ['engine/egress/egress.ts', 'ground/core/security/dial.ts'],
    ['packages/gate/src/gate.ts', 'packages/gate/src/requests.ts'],
  ],
  'a session on a worker': [
    ['sessions/work/queue.ts', 'sessions/work/store.ts'],
    ['sessions/work/routes.ts', 'sessions/work/poll.ts'],
    ['sessions/work/claim.ts', 'sessions/work/claim.ts'],
    ['ground/core/security/claim-token.ts', 'ground/core/security/claim-token.ts'],
    ['packages/worker/src/start.ts', 'packages/worker/src/poller.ts'],
    ['packages/worker/src/start.ts', 'packages/worker/src/lease.ts'],
    ['packages/worker/src/start.ts', 'packages/worker/src/supervisor/supervise.ts'],
    ['packages/worker/src/harness/main.ts', 'packages/worker/src/harness/calls.ts'],
    ['packages/worker/src/harness/main.ts', 'packages/worker/src/tunnel.ts'],
    ['engine/egress/egress.ts', 'engine/egress/callers/remote.ts'],
    ['packages/worker/src/checkpoints.ts', 'packages/worker/src/checkpoints.ts'],
  ],
}

type Ways = ReadonlyMap<string, readonly string[]>

function reached(ways: Ways, start: string): Set<string> {
  const found = new Set([start])
  for (const file of found) for (const next of ways.get(file) ?? []) found.add(next)
  return found
}

const grouped = (pairs: readonly (readonly [string, string])[]): Ways =>
  new Map(
    [...Map.groupBy(pairs, ([from]) => from)].map(([from, some]) => [
      from,
      some.map(([, to]) => to),
    ]),
  )

const pathOf = (name: string): string =>
  name.startsWith('packages/') ? name : `packages/server/src/${name}`

/** The files on the ways of the legs, and what is said of each leg without a way. */
export function filesOfLegs(
  sources: readonly Source[],
  parts: readonly Leg[],
): { files: string[]; lost: string[] } {
  const paths = new Set(sources.map(({ path }) => path))
  const imports = valueImportsOf(sources).filter(({ to }) => paths.has(to))
  const down = grouped(imports.map(({ from, to }) => [from, to]))
  const up = grouped(imports.map(({ from, to }) => [to, from]))
  const files = parts.map(([entry, end]) => {
    const above = reached(up, pathOf(end))
    return [...reached(down, pathOf(entry))].filter((file) => paths.has(file) && above.has(file))
  })
  return {
    files: [...new Set(files.flat())],
    lost: parts
      .filter((_, index) => files[index]?.length === 0)
      .map(([entry, end]) => `${entry} does not reach ${end}`),
  }
}

export function journeys(sources: readonly Source[]): Journey[] {
  const lengths = new Map(sources.map(({ path, lines }) => [path, lines.length]))
  return Object.entries(legs).map(([title, parts]) => {
    const { files, lost } = filesOfLegs(sources, parts)
    const lines = files.reduce((sum, file) => sum + (lengths.get(file) ?? 0), 0)
    return { title, files, lines, lost: lost.map((why) => `${title}: ${why}`) }
  })
}
