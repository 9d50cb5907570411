/** Tokens of each kind with what a million costs, what that makes, each request, and how full the context is. */
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Cost, Duration, Tokens } from '../../components/figures.tsx'
import { Meter, MiniTable } from '../../components/inspector.tsx'
import { Quiet, Stack } from '../../components/layout.tsx'
import { Facts } from '../../components/session-layout.tsx'
import { modelQuery } from '../../lib/api/models.ts'
import type { Session, ShortSession } from '../../lib/api/types.ts'
import { formatPrice, formatTokens } from '../../lib/format/numbers.ts'
import { costOf } from '../../lib/session/facts.ts'
import { words } from '../../lib/words.ts'
import type { FollowedLog } from './log.ts'
import { OnlyLoaded } from './panes.tsx'
import { requestsOf } from './requests.ts'
import { modelOf } from './session.ts'
import { chargesOf, isSumOf } from './usage.ts'
import { usageWords as own } from './words.ts'

type UsagePaneProps = { session: Session; short: ShortSession | undefined; log: FollowedLog }

export function UsagePane({ session, short, log }: UsagePaneProps) {
  const { used_tokens: used, window_tokens: whole, share } = short?.context ?? noContext
  return (
    <Stack>
      {share !== null && (
        <Meter label={words.session.panes.context} share={share}>
          {formatTokens(used ?? 0)} {words.session.of} {formatTokens(whole ?? 0)}
        </Meter>
      )}
      <Charges session={session} />
      <Facts
        facts={[
          [words.session.active, <Duration key="ran" ms={session.usage.active_seconds * 1_000} />],
        ]}
      />
      <Requests log={log} />
      <OnlyLoaded log={log} />
    </Stack>
  )
}

const noContext = { used_tokens: null, window_tokens: null, share: null }

/** Tokens of each kind, times their price. The sum is what the session cost where it has used one model at one price. */
function Charges({ session }: { session: Session }) {
  const model = useQuery(modelQuery(modelOf(session.agent)))
  const price = model.data?.list_price
  const { charges, sum } = chargesOf(session.usage, price ?? undefined)
  const cost = costOf(session)
  const isWhole = sum !== undefined && isSumOf(sum, cost)
  return (
    <Stack gap="normal">
      <MiniTable
        label={own.title}
        heads={[own.kind, own.count, own.price, own.cost]}
        rows={[
          ...charges.map(({ kind, tokens, ofMillion, dollars }) => ({
            key: kind,
            cells: [
              own[kind],
              <Tokens key="count" count={tokens} />,
              ofMillion === undefined ? '–' : `× ${formatPrice(ofMillion)}`,
              <Cost key="cost" dollars={dollars} />,
            ],
          })),
          ...(sum === undefined
            ? []
            : [{ key: 'sum', cells: [own.sum, '', '', <Cost key="sum" dollars={sum} />] }]),
          ...(isWhole
            ? []
            : [{ key: 'cost', cells: [own.charged, '', '', <Cost key="cost" dollars={cost} />] }]),
        ]}
      />
      {model.isSuccess && price === null && <Quiet isSmall>{own.noPrice}</Quiet>}
      {sum !== undefined && !isWhole && <Quiet isSmall>{own.differs}</Quiet>}
    </Stack>
  )
}

function Requests({ log }: { log: FollowedLog }) {
  const requests = useMemo(() => requestsOf(log.events), [log.events])
  const { panes } = words.session
  if (requests.length === 0) return null
  return (
    <MiniTable
      label={panes.requests}
      heads={[words.session.facts.model, own.input, own.cached, own.output, panes.took, own.cost]}
      rows={requests.map(({ id, model, input, cacheRead, cacheWritten, output, ...request }) => ({
        key: id,
        cells: [
          model,
          <Tokens key="in" count={input} />,
          <span
            key="cache"
            title={own.cachedTitle(formatTokens(cacheRead), formatTokens(cacheWritten))}
          >
            {formatTokens(cacheRead)} / {formatTokens(cacheWritten)}
          </span>,
          <Tokens key="out" count={output} />,
          request.tookMs === undefined ? '–' : <Duration key="took" ms={request.tookMs} />,
          <Cost key="cost" dollars={request.dollars} />,
        ],
      }))}
    />
  )
}
