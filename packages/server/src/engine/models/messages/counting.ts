/** Counts each request of `/v1/messages` before it begins and when it ends, whatever ends it. [messages/counted] */
import type { Usage } from '@steward/model/model.ts'
import { noUsage } from '@steward/model/model.ts'
import type { Price } from '@steward/model/price.ts'
import { auditChange } from '../../../ground/core/security/audited-call.ts'
import type { Job } from '../../../ground/core/time/jobs.ts'
import { newId } from '../../../ground/core/text/ids.ts'
import type { Database, TenantRef } from '../../../ground/database/database.ts'
import { runOnEach } from '../../../ground/database/database.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { MessageRequestRow } from '../../../tenants/usage/messages/store.ts'
import {
  messageUsageStore,
  priceText,
  costOfRequest,
} from '../../../tenants/usage/messages/store.ts'
import type { Spending } from '../../../tenants/limits/spending/spending.ts'

type BegunRequest = {
  /** The key or the person that asks. */
  by: string
  /** The name of the model as the workspace has it. */
  model: string
  price: Price | null
  /** An estimate, which is counted when the process dies. */
  inputTokens: number
}

export type CountedRequest = {
  id: string
  /** Counts what was used. Never rejects: what cannot be written now is written by the job. */
  end(usage: Usage): Promise<void>
}

export type MessageCounting = {
  /** Rejects when the start cannot be recorded: then nothing may be asked. */
  begin(of: TenantRef, request: BegunRequest): Promise<CountedRequest>
  job: Job
}

/** Rarely where no such request can come, for those of a server before. */
const pauseMs = { on: 30_000, off: 60 * 60_000 }
const rowsAtOnce = 100

export function messageCounting({
  databases,
  clock,
  log,
  spending,
  messagesApi: isOn,
}: Ground & { spending: Pick<Spending, 'add'>; messagesApi: boolean }): MessageCounting {
  /** Requests of this process that have ended and could not be written. */
  const unwritten = new Map<string, { row: MessageRequestRow; usage: Usage }>()

  const write = (database: Database, row: MessageRequestRow, usage: Usage) =>
    database.write((tx) => messageUsageStore(tx).end(row, usage))

  async function writeLate(): Promise<void> {
    for (const [id, { row, usage }] of unwritten) {
      await write(await databases.open(row.tenant_id), row, usage)
      unwritten.delete(id)
    }
  }

  /** Counts the requests of processes that have died, by the estimate of what their models read. */
  async function countLeft(database: Database): Promise<boolean> {
    const { owners, read } = database
    const rows = await messageUsageStore(read).ofOthers(owners.self, rowsAtOnce)
    const dead = new Set(await owners.dead([...new Set(rows.map(({ owner }) => owner))]))
    const left = rows.filter(({ owner }) => dead.has(owner))
    for (const row of left)
      await write(database, row, { ...noUsage, input_tokens: Number(row.input_tokens) })
    return left.length < rowsAtOnce
  }

  const everyMs = isOn ? pauseMs.on : pauseMs.off
  const walk = databases.walk(everyMs)
  return {
    async begin({ db, tenant }, { by, model, price, inputTokens }) {
      const row: MessageRequestRow = {
        tenant_id: tenant,
        id: newId('message'),
        api_key_id: by,
        model,
        price: priceText(price),
        input_tokens: Math.ceil(inputTokens),
        begun_ms: clock.now(),
        owner: db.owners.self,
      }
      await db.write(async (tx) => {
        await messageUsageStore(tx).begin(row)
        auditChange({ type: 'message', id: row.id, after: { model } })
      })
      return {
        id: row.id,
        async end(usage) {
          spending.add(tenant, costOfRequest(usage, price))
          await write(db, row, usage).catch((error: unknown) => {
            log.warn('the usage of a message is written later', { message_id: row.id, error })
            unwritten.set(row.id, { row, usage })
          })
        },
      }
    },
    job: {
      name: 'count messages that were left',
      everyMs,
      async run() {
        await writeLate()
        return runOnEach(walk(), countLeft)
      },
    },
  }
}
