/** A session: what it is, what was said and done, what it asks, and where to write to it. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import { ButtonLink } from '../../components/button-link.tsx'
import { Button } from '../../components/button.tsx'
import { Heard } from '../../components/heard.tsx'
import { Row, WhereWide } from '../../components/layout.tsx'
import { Empty, Failure, Skeleton } from '../../components/notices.tsx'
import { Page } from '../../components/page.tsx'
import { SessionLayout, ViewLine } from '../../components/session-layout.tsx'
import { Status } from '../../components/status.tsx'
import { Tabs } from '../../components/tabs.tsx'
import type { Session, ShortSession } from '../../lib/api/types.ts'
import { isAbsent, requestIdOf } from '../../lib/failures.ts'
import { formatCount } from '../../lib/format/numbers.ts'
import { useIsPhone } from '../../lib/narrow.ts'
import { useNoAnswerReason } from '../../lib/rights.ts'
import { shortTitleOf, stateOf, statusOf } from '../../lib/session/facts.ts'
import { words } from '../../lib/words.ts'
import { openCallsOf } from './conversation.ts'
import type { FollowedLog } from './log.ts'
import { useSessionLog } from './log.ts'
import type { SessionPageView } from './place.ts'
import { sessionViews } from './place.ts'
import { RetryBanner } from './retry-banner.tsx'
import { SessionFacts } from './session-facts.tsx'
import { SessionInspector } from './session-inspector.tsx'
import { SessionMenu } from './session-menu.tsx'
import { SessionTalk, useFreshSession, useSessionNews, WaitBanner } from './session-talk.tsx'
import { besideKey, sessionQuery, summaryQuery } from './session.ts'
import { threadsOf } from './threads.ts'
import { TimelineLine, TimelineView } from './timeline-view.tsx'
import { useSessionCommands } from './use-session-commands.ts'

const Interruption = lazy(async () => ({
  default: (await import('./interruption.tsx')).Interruption,
}))
const ForkDialog = lazy(async () => ({ default: (await import('./fork-dialog.tsx')).ForkDialog }))

type SessionPageProps = {
  id: string
  place: SessionPageView
  onPlace: (change: Partial<SessionPageView>) => void
  onOpen: (session: string) => void
}

export function SessionPage(props: SessionPageProps) {
  const { id, place } = props
  const query = useQuery(sessionQuery(id))
  const short = useQuery(summaryQuery(id))
  const log = useSessionLog(id, place.event)
  const client = useQueryClient()
  useFreshSession(log, () => {
    void query.refetch()
    void short.refetch()
    void client.invalidateQueries({ queryKey: besideKey(id) })
  })
  useSessionNews(id)
  if (query.data)
    return <OpenSession {...props} session={query.data} short={short.data} log={log} />
  return (
    <Page title={words.pages.sessions}>
      {query.isError ? (
        <NoSession error={query.error} again={() => void query.refetch()} />
      ) : (
        <Skeleton />
      )}
    </Page>
  )
}

const NoSession = ({ error, again }: { error: Error; again: () => void }) =>
  isAbsent(error) ? (
    <Empty action={<ButtonLink to="/sessions">{words.failures.toSessions}</ButtonLink>}>
      {words.session.absent}
    </Empty>
  ) : (
    <Failure message={error.message} requestId={requestIdOf(error)} onRetry={again} />
  )

type OpenProps = SessionPageProps & {
  session: Session
  short: ShortSession | undefined
  log: FollowedLog
}

const asksStatus = { tone: 'asks', word: words.status.asks } as const

function OpenSession({ session, short, log, place, onPlace, onOpen }: OpenProps) {
  const [dialog, setDialog] = useState<'interrupt' | { fork: number | undefined }>()
  const asking = useMemo(() => openCallsOf(log.known), [log.known])
  const { tone, word } =
    asking.size > 0 ? asksStatus : short ? stateOf(short) : statusOf(session.status)
  const isPhone = useIsPhone()
  const choose = useCallback(
    // On a phone the details would lie over what was chosen.
    (id: string) => onPlace(isPhone ? { event: id } : { event: id, pane: 'event' }),
    [onPlace, isPhone],
  )
  const isRunning = session.status === 'running'
  const readOnly = useNoAnswerReason()
  const title = shortTitleOf({ first_words: null, ...short, id: session.id, title: session.title })
  useSessionCommands({
    id: session.id,
    isRunning,
    onInterrupt: () => setDialog('interrupt'),
    onFind: () => onPlace({ view: 'find' }),
    onFork: () => setDialog({ fork: undefined }),
    onClose: () => onPlace({ pane: undefined, event: undefined }),
  })
  const close = () => setDialog(undefined)
  return (
    <Page
      title={title}
      crumbs={<Link to="/sessions">{words.pages.sessions}</Link>}
      beside={<Status tone={tone}>{word}</Status>}
      actions={
        <Row>
          <InterruptButton
            isRunning={isRunning}
            offBecause={readOnly}
            onClick={() => setDialog('interrupt')}
          />
          <SessionMenu
            session={session}
            title={title}
            onFork={() => setDialog({ fork: undefined })}
          />
        </Row>
      }
      line={<SessionFacts session={session} short={short} />}
    >
      <Heard>{word}</Heard>
      {session.waiting_on && <WaitBanner wait={session.waiting_on} />}
      <RetryBanner session={session} short={short} log={log} title={title} onOpen={onOpen} />
      <Views log={log} place={place} onPlace={onPlace} />
      <SessionLayout
        timeline={
          place.view === 'talk' && (
            <TimelineView log={log} chosen={place.event} asked={asking} onChoose={choose} />
          )
        }
        map={
          place.view === 'talk' && <TimelineLine log={log} chosen={place.event} onChoose={choose} />
        }
        talk={
          <SessionTalk
            session={session}
            log={log}
            view={place.view}
            thread={place.thread}
            chosen={place.event}
            onChoose={choose}
          />
        }
        inspector={
          place.pane && (
            <SessionInspector
              session={session}
              short={short}
              log={log}
              pane={place.pane}
              event={place.event}
              onPane={(pane) => onPlace({ pane })}
              onThread={(thread) => onPlace({ thread, view: 'talk' })}
              onFork={(seq) => setDialog({ fork: seq })}
              onChoose={(next) => onPlace({ event: next })}
            />
          )
        }
      />
      <Suspense>
        {dialog === 'interrupt' && <Interruption session={session.id} onClose={close} />}
        {typeof dialog === 'object' && (
          <ForkDialog
            session={session}
            seq={dialog.fork}
            title={title}
            onClose={close}
            onForked={(fork) => {
              close()
              onOpen(fork)
            }}
          />
        )}
      </Suspense>
    </Page>
  )
}

/** Where there is little room, it is there while something can be interrupted. */
function InterruptButton({
  isRunning,
  offBecause,
  onClick,
}: {
  isRunning: boolean
  offBecause: string | undefined
  onClick: () => void
}) {
  const button = (
    <Button
      keys="."
      offBecause={isRunning ? offBecause : words.session.notRunning}
      onClick={onClick}
    >
      {words.session.interrupt}
    </Button>
  )
  return isRunning ? button : <WhereWide>{button}</WhereWide>
}

/** The conversation, one for each thread, the log, and what finds in it. */
function Views({ log, place, onPlace }: Pick<OpenProps, 'log' | 'place' | 'onPlace'>) {
  const threads = useMemo(() => threadsOf(log.known), [log.known])
  const thread = (id: string) => `thread ${id}`
  const tabs = [
    { name: 'talk', label: words.session.conversation },
    ...threads.map(({ id, name, isRunning }) => ({
      name: thread(id),
      label: name,
      ...(isRunning && { beside: words.status.running }),
    })),
    { name: 'timeline', label: words.session.timeline, isNarrow: true },
    // Their places have no gap.
    {
      name: 'events',
      label: words.session.events,
      beside: formatCount(log.known.at(-1)?.seq ?? 0),
    },
    { name: 'find', label: words.session.find },
  ]
  const isThread = place.thread !== undefined && place.view === 'talk'
  const choose = (name: string) => {
    const child = threads.find(({ id }) => thread(id) === name)
    if (child) onPlace({ view: 'talk', thread: child.id })
    else onPlace({ view: sessionViews.find((each) => each === name) ?? 'talk', thread: undefined })
  }
  return (
    <ViewLine
      end={
        <Button
          size="small"
          kind="plain"
          aria-pressed={place.pane !== undefined}
          onClick={() =>
            onPlace({
              pane: place.pane ? undefined : place.event === undefined ? 'usage' : 'event',
            })
          }
        >
          {words.session.details}
        </Button>
      }
    >
      <Tabs
        label={words.session.views}
        tabs={tabs}
        chosen={isThread ? thread(place.thread ?? '') : place.view}
        onChoose={choose}
      />
    </ViewLine>
  )
}
