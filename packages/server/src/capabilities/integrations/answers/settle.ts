/** What becomes of answers, on the deliveries that they answer. */
import type { Queries } from '../../../ground/database/database.ts'
import type { Telling } from '../integration.ts'
import type { ExternalThreadRow } from '../store.ts'
import { integrationStore } from '../store.ts'

/** What became of the answer to a delivery. */
export type AnswerEnd = { state: 'told'; url?: string } | { state: 'untold'; reason: string }

const turnEnds: readonly Telling['kind'][] = ['reply', 'error', 'stopped', 'ended', 'refused']

export const endsTurn = ({ kind }: Telling): boolean => turnEnds.includes(kind)

/** Notes on the deliveries that the turn answers what became of the answer. A question that is told ends nothing. */
export async function settleTelling(
  tx: Queries,
  { tenant_id: tenant, session_id: session }: ExternalThreadRow,
  telling: Telling,
  end: AnswerEnd,
): Promise<void> {
  const isEnd = endsTurn(telling) || (telling.kind === 'question' && end.state === 'untold')
  if (!isEnd) return
  await integrationStore(tx).settleAnswers(tenant, {
    session,
    id: telling.id,
    end: {
      answer_state: end.state,
      answer_url: 'url' in end ? (end.url ?? null) : null,
      answer_reason: 'reason' in end ? end.reason : null,
      answer_event: telling.id,
    },
  })
}
