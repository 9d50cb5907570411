/** A session: what it is, what was said and done, what it asks, and where to write to it. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Cost, Duration, Fact, Id, Tokens } from '../../components/figures.tsx'
import { Heard } from '../../components/heard.tsx'
import { Failure, Skeleton } from '../../components/notices.tsx'
import { Page } from '../../components/page.tsx'
import { FactLine, SessionLayout } from '../../components/session-layout.tsx'
import { Status } from '../../components/status.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { copyText } from '../../lib/clipboard.ts'
import type { Session } from '../../lib/api/types.ts'
import { useCommands } from '../../lib/commands.ts'
import { requestIdOf } from '../../lib/failures.ts'
import { costOf, statusOf, titleOf, tokensOf } from '../../lib/session/facts.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { words } from '../../lib/words.ts'
import { askedCalls, turnsOf } from './conversation.ts'
import { InspectedEvent } from './inspected-event.tsx'
import type { FollowedLog, ShownLog } from './log.ts'
import { useSessionLog } from './log.ts'
import type { SessionTab } from './session-talk.tsx'
import { SessionTalk, useFreshSession, useSessionNews, WaitBanner } from './session-talk.tsx'
import { allowancesQuery, sessionQuery, useAllowance } from './session.ts'
import { TimelineView } from './timeline-view.tsx'

const Interruption = lazy(async () => ({
  default: (await import('./interruption.tsx')).Interruption,
}))

type SessionPageProps = {
  id: string
  view: SessionTab
  /** The chosen event. */
  event: string | undefined
  onView: (view: SessionTab) => void
  onEvent: (id: string | undefined) => void
}

export function SessionPage(props: SessionPageProps) {
  const { id } = props
  const query = useQuery(sessionQuery(id))
  const log = useSessionLog(id)
  useFreshSession(log, () => void query.refetch())
  useSessionNews(id)
  if (query.isPending) return <Page title={words.pages.sessions}>{<Skeleton />}</Page>
  if (query.isError && !query.data) {
    const again = () => void query.refetch()
    return (
      <Page title={words.pages.sessions}>
        <Failure
          message={query.error.message}
          requestId={requestIdOf(query.error)}
          onRetry={again}
        />
      </Page>
    )
  }
  return <OpenSession {...props} session={query.data} log={log} />
}

type OpenProps = SessionPageProps & {
  session: Session
  log: FollowedLog
}

function OpenSession({ session, log, view, event, onView, onEvent }: OpenProps) {
  const [isInterrupting, setInterrupting] = useState(false)
  const asking = useMemo(() => openCalls(log), [log])
  const { tone, word } = asking.size > 0 ? asksStatus : statusOf(session.status)
  const chosen = event === undefined ? undefined : log.events.find(({ id }) => id === event)
  const choose = useCallback((id: string) => onEvent(id), [onEvent])
  const isRunning = session.status === 'running'
  const readOnly = useReadOnlyReason()
  useSessionCommands(session, isRunning, () => setInterrupting(true), onEvent)
  return (
    <Page
      title={titleOf(session)}
      crumbs={<Link to="/sessions">{words.pages.sessions}</Link>}
      beside={<Status tone={tone}>{word}</Status>}
      actions={
        <Button
          keys="."
          offBecause={isRunning ? readOnly : words.session.notRunning}
          onClick={() => setInterrupting(true)}
        >
          {words.session.interrupt}
        </Button>
      }
      line={<SessionFacts session={session} turns={turnsOf(log.events)} />}
    >
      <Heard>{word}</Heard>
      {session.waiting_on && <WaitBanner wait={session.waiting_on} />}
      <Tabs
        label={words.session.views}
        chosen={view}
        onChoose={onView}
        tabs={[
          { name: 'talk', label: words.session.conversation },
          { name: 'events', label: words.session.events, beside: log.events.length },
        ]}
      />
      <SessionLayout
        timeline={
          view === 'talk' && (
            <TimelineView
              log={log}
              chosen={event}
              asked={new Set(asking.keys())}
              onChoose={choose}
            />
          )
        }
        talk={
          <SessionTalk session={session} log={log} view={view} chosen={event} onChoose={choose} />
        }
        inspector={chosen && <InspectedEvent event={chosen} onClose={() => onEvent(undefined)} />}
      />
      <Suspense>
        {isInterrupting && (
          <Interruption session={session.id} onClose={() => setInterrupting(false)} />
        )}
      </Suspense>
    </Page>
  )
}

/** Tools that run here without asking; a click takes that back. */
function AllowedTools({ session }: { session: string }) {
  const { data } = useQuery(allowancesQuery(session))
  const change = useAllowance(session)
  const readOnly = useReadOnlyReason()
  if (!data || data.data.length === 0) return null
  return (
    <Fact name={words.session.allowed}>
      {data.data.map(({ tool }) => (
        <Button
          key={tool}
          size="small"
          kind="plain"
          offBecause={readOnly}
          title={words.session.takeBack(tool)}
          onClick={() => change.mutate({ tool, isAllowed: false })}
        >
          {tool} ×
        </Button>
      ))}
    </Fact>
  )
}

const asksStatus = { tone: 'asks', word: words.status.asks } as const

/** The calls that wait for a person, with the names of their tools. */
function openCalls({ events }: ShownLog): ReadonlyMap<string, string> {
  const asked = new Set(askedCalls(events))
  for (const each of events)
    if (each.type === 'user.tool_confirmation') asked.delete(each.tool_use_id)
  return new Map(
    events.flatMap((each): [string, string][] =>
      'name' in each && typeof each.name === 'string' && asked.has(each.id)
        ? [[each.id, each.name]]
        : [],
    ),
  )
}

const SessionFacts = ({ session, turns }: { session: Session; turns: number }) => (
  <FactLine>
    <Fact name={words.session.turn}>{turns}</Fact>
    <Fact name={words.session.agent}>
      {session.agent.name}@{session.agent.version}
    </Fact>
    <Fact name={words.session.active}>
      <Duration ms={session.stats.active_seconds * 1_000} />
    </Fact>
    <Fact name={words.session.tokens}>
      <Tokens count={tokensOf(session)} />
    </Fact>
    <Fact name={words.session.cost}>
      <Cost dollars={costOf(session)} />
    </Fact>
    <AllowedTools session={session.id} />
    <Id of={session.id} />
  </FactLine>
)

function useSessionCommands(
  { id }: Session,
  isRunning: boolean,
  interrupt: () => void,
  onEvent: (id: string | undefined) => void,
): void {
  useCommands(
    useMemo(
      () => [
        ...(isRunning
          ? [
              {
                id: 'interrupt',
                group: 'page' as const,
                keys: '.',
                label: words.session.interruptTitle,
                run: interrupt,
              },
            ]
          : []),
        {
          id: 'copy id',
          group: 'page' as const,
          keys: 'c',
          label: words.session.copyId,
          run: () => void copyText(id).then(() => say({ kind: 'done', text: words.idCopied })),
        },
        {
          id: 'close event',
          group: 'page' as const,
          keys: 'escape',
          label: words.session.closeInspector,
          run: () => onEvent(undefined),
        },
      ],
      // The functions are others at each render, and do the same.
      // oxlint-disable-next-line react/exhaustive-deps
      [id, isRunning],
    ),
  )
}
