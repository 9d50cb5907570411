/** For tests: a database with an outbox, and processes that dispatch its deliveries. */
import { noRules } from '../../ground/core/rules/rules.ts'
import type { WebhookKind } from '@steward/protocol/webhooks.ts'
import { jsonLog } from '@steward/base/log.ts'
import {
  guardedConnector,
  operatorGuard,
  parseRanges,
  parseTargets,
  tenantGuard,
} from '../../ground/core/security/dial.ts'
import type { RunningJobs } from '../../ground/core/time/jobs.ts'
import { startJobs } from '../../ground/core/time/jobs.ts'
import { createSeal } from '../../ground/core/security/seal.ts'
import type { Database } from '../../ground/database/database.ts'
import { oneDatabase } from '../../ground/database/database.ts'
import type { everyShape } from '../../ground/database/shapes-fixture.ts'
import { tenant } from '../../sessions/log/fixture.ts'
import { unitOn } from '../../ground/bus/fixture.ts'
import { dispatchJob, notifyWebhooks } from './dispatch.ts'
import { handClock, newEndpoint } from './fixture.ts'
import { announceWebhooks } from './operator.ts'
import { outbox } from './outbox.ts'
import { webhookPoster } from './post-delivery.ts'
import { newSecret } from './sign.ts'
import { rows } from '../../ground/database/rows.ts'

type OpenShape = (typeof everyShape)[keyof typeof everyShape]

const seal = createSeal('a root secret of webhooks')

/** `allowed`: the targets of tenants. `hintUrl`: the operator's endpoint; none when it is empty. */
export async function dispatchSetup(
  open: OpenShape,
  { allowed = '127.0.0.0/8:*', hintUrl = '' } = {},
) {
  const opened = await open()
  const { database, bus } = opened
  let units = 0
  const counted: Database = {
    ...database,
    write(unit) {
      units++
      return database.write(unit)
    },
  }
  const databases = oneDatabase(counted)
  const clock = handClock()
  const log = jsonLog(() => {}, 'error')
  const letters = webhookPoster(guardedConnector(tenantGuard(parseTargets(allowed))))
  const hints = webhookPoster(guardedConnector(operatorGuard(parseRanges('127.0.0.0/8'))))
  const posts = { post: letters.post, postHint: hints.post }
  const hint = hintUrl ? { url: hintUrl, secret: newSecret() } : undefined
  await announceWebhooks(database, { organization: 'org_1', isHinting: hint !== undefined })
  const running = new Set<RunningJobs>()
  const { read } = database
  const deliveries = () => read.selectFrom('webhook_deliveries').selectAll().orderBy('id').execute()
  return {
    ...{ database, clock, hint, rows: deliveries },
    /** The units that dispatchers have written. */
    units: () => units,
    /** Another process on the same database. */
    dispatch() {
      const deps = { databases, bus, seal, clock, log, hint, rules: noRules, ...posts }
      const made = startJobs([dispatchJob(deps)], { clock, log })
      running.add(made)
      return made
    },
    endpoint: (url: string, events?: string[]) =>
      newEndpoint(database, seal, { tenant, url, ...(events ? { events } : {}) }),
    async put(count = 1, what: WebhookKind = 'agent.created', who = tenant) {
      for (let n = 0; n < count; n++) {
        const ids = { id: `agent_${n}` }
        await database.write((tx) => outbox(tx).put(who, [what], ids, clock.now()))
      }
      notifyWebhooks(unitOn(bus))
    },
    async sendHint() {
      await database.write((tx) => outbox(tx).hint(tenant, 'sesn_1', { now: clock.now() }))
      notifyWebhooks(unitOn(bus))
    },
    /** Reads the rows until they satisfy the condition; otherwise the time limit ends the test. */
    async until(is: (all: Awaited<ReturnType<typeof deliveries>>) => boolean) {
      for (;;) {
        const all = await deliveries()
        if (is(all)) return all
        await new Promise((resolve) => void setImmediate(resolve))
      }
    },
    standing: (id: string) => rows(read, 'webhook_endpoints').get(tenant, id),
    async [Symbol.asyncDispose]() {
      for (const each of running) await each.stop()
      await letters.close()
      await bus.close()
      await opened[Symbol.asyncDispose]()
    },
  }
}
