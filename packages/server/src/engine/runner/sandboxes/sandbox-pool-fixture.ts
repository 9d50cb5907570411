/** For tests: pools of real sandboxes over a test database, with one mount kind that the test chooses. */
import { noRules } from '../../../ground/core/rules/rules.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonLog } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { unusedKeeping } from '../../../ground/blobs/fixture.ts'
import type { CheckpointSaving } from '../../../ground/config/config.ts'
import { createShare } from '../../../ground/core/fairness/share.ts'
import { oneDatabase } from '../../../ground/database/database.ts'
import { testGround } from '../../../ground/ground-fixture.ts'
import type { Checkpoints } from '../../../resources/checkpoints/checkpoints.ts'
import { createCheckpoints } from '../../../resources/checkpoints/checkpoints.ts'
import { sessionStore } from '../../../sessions/rows/sessions.ts'
import { environment, openTestEgress, tenant } from '../../egress/callers/egress-fixture.ts'
import type { RunLease } from './held-sandbox.ts'
import type { MountKind } from './mount-kind.ts'
import { type SandboxPool, sandboxPool } from './sandbox-pool.ts'

const limits = { memory: 256 << 20, processes: 64, cpus: 1, scratch: 16 << 20, file: 1 << 30 }

/** After this time without use, in milliseconds, an idle sandbox of these pools is stopped. */
export const idleMs = 60_000

export const run = async (sandbox: Sandbox, command: string): Promise<string> =>
  (await sandbox.shell({ command, timeoutMs: 10_000 })).output

/** What a pool asks at each call: a test may change it at any time, and `fresh` sets it back. */
const defaults = () => ({
  now: 0,
  kind: (async () => ({})) as MountKind,
  isOurs: true,
  /** Types of the events that were kept. */
  said: [] as string[],
  share: createShare({ total: 100, percent: 80 }),
})

export async function openPoolBench() {
  const folder = await mkdtemp(join(tmpdir(), 'steward-workspace-'))
  const bench = await openTestEgress({ port: 1 })
  const at = defaults()
  const { read } = bench.database
  return {
    at,
    folder,
    database: bench.database,
    fresh: () => void Object.assign(at, defaults()),
    async newSession(): Promise<RunLease> {
      const { id } = await bench.session([])
      return { tenant, session: id, environment, generation: 0 }
    },
    open(saving: CheckpointSaving, instead?: Pick<Checkpoints, 'save'>): SandboxPool {
      const clock = { ...systemClock, now: () => at.now }
      const one = oneDatabase(bench.database)
      return sandboxPool({
        rules: noRules,
        ...{ folder, limits, idleMs, clock, saving },
        isPassable: false,
        provider: bubblewrapSandboxes(),
        bind: bench.egress.bind,
        log: jsonLog(() => {}),
        share: at.share,
        kinds: [(target) => at.kind(target)],
        session: (owner, session) => sessionStore(read).row(owner, session),
        isOurs: async () => at.isOurs,
        checkpoints: {
          ...createCheckpoints({
            ...{ ...testGround(one, { clock }), folder, largest: 1 << 30, history: 0 },
            keeping: unusedKeeping(one),
          }),
          ...instead,
        },
        publish: async () => {},
        waits: (_lease, _type, waited) => waited,
        keep: async (_, events) => void at.said.push(...events.map(({ type }) => type)),
      })
    },
    async [Symbol.asyncDispose]() {
      await bench[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type PoolBench = Awaited<ReturnType<typeof openPoolBench>>
