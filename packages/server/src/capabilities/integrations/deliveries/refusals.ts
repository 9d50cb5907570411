/** People who may not call an agent: what the provider says of them, and what they are told. */
import type { Queries } from '../../../ground/database/database.ts'
import { integrationStore } from '../store.ts'
import type { PublicationRow } from '../store.ts'
import type { Refusal } from '../integration.ts'
import type { JobContext } from '../job-context.ts'
import { notifyIntegrations } from '../topics.ts'
import type { HeardDelivery } from './allowed.ts'
import type { GatherDeps } from './gather.ts'
import { openSource } from './gather.ts'
import { saveThread } from './threads.ts'

/** The most attempts to ask whether a person may call the agent. After them the person may not. */
const mostWaits = 4

/** The reason why the author may not call the agent, by the provider's answer. Throws to be asked again later. */
export async function whyRefused(
  deps: GatherDeps,
  context: JobContext,
  publication: PublicationRow,
  { received, begun }: { received: HeardDelivery; begun: number },
): Promise<string | undefined> {
  const { check } = received
  const app = deps.apps.get(publication.integration)
  if (!check || !app) return undefined
  const found = await openSource(deps, context, publication, { app, since: null })
  if ('problem' in found) return `stranger: ${found.problem}`
  if (await app.mayCall?.(found.source, check)) return undefined
  const [later] = found.waits
  if (later !== undefined && begun + 1 < mostWaits) throw new Error(`whether it may call: ${later}`)
  const why = [...found.missing, ...found.waits]
  return ['stranger: the provider does not count the author among those who may call', ...why].join(
    '; ',
  )
}

const refusalOfStranger = ({ integration }: PublicationRow): string =>
  integration === 'linear'
    ? 'This agent works for the people of its publication alone, and you are not among them.'
    : 'This agent does not work for you here: its publication does not name you.'

/** Whether the publication tells people that they may not call its agent. Linear would say that the agent is silent. */
export const tellsRefusals = ({ integration, spec, status }: PublicationRow): boolean =>
  status === 'live' && (spec.tell_refusals ?? integration === 'linear')

/** Tells a person once in a thread that the agent does not work for them. */
export async function tellRefusal(
  tx: Queries,
  publication: PublicationRow,
  { refusal, delivery: id, now }: { refusal: Refusal; delivery: string; now: number },
): Promise<void> {
  if (!tellsRefusals(publication)) return
  const { tenant_id, id: publication_id } = publication
  const { scope, target, message = refusalOfStranger(publication) } = refusal
  const thread = await integrationStore(tx).findThreadForUpdate(tenant_id, publication_id, scope)
  if (thread) return
  const first = { kind: 'refused', id, message, target } as const
  const delivery = { tenant_id, publication_id }
  await saveThread(tx, { thread, delivery }, { scope }, { first, target, now })
  notifyIntegrations(tx)
}
