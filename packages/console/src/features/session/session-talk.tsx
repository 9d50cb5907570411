/** What the page of a session and a trial have in common: the session as it is now, and its conversation. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { Time } from '../../components/figures.tsx'
import { Quiet } from '../../components/layout.tsx'
import { Banner, Failure, Skeleton } from '../../components/notices.tsx'
import { TimelinePane } from '../../components/session-layout.tsx'
import type { Session, SessionSummary, WaitingOn } from '../../lib/api/types.ts'
import { messageOf, requestIdOf } from '../../lib/failures.ts'
import { followWorkspace } from '../../lib/stream/workspace.ts'
import { words } from '../../lib/words.ts'
import { AskedDock } from './asked-dock.tsx'
import { ComposerBox } from './composer-box.tsx'
import { openCallsOf } from './conversation.ts'
import { EventsView } from './events-view.tsx'
import { FindView } from './find-view.tsx'
import type { FollowedLog, ShownLog } from './log.ts'
import type { SessionTab } from './place.ts'
import { sessionQuery, summaryQuery } from './session.ts'
import { TalkView } from './talk-view.tsx'
import { TimelineView } from './timeline-view.tsx'

/** Status and cost stand in the session, which is asked for when the log says that they changed. */
export function useFreshSession({ known }: ShownLog, refetch: () => void): void {
  const last = useMemo(
    () =>
      known.findLast(({ type }) => type.startsWith('session.status_') || type === 'session.updated')
        ?.id,
    [known],
  )
  useEffect(() => {
    if (last !== undefined) refetch()
    // The function is another one at each render.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [last])
}

/** Why the session does not go on, as the service says it. */
export function WaitBanner({ wait: { who, text, since, count } }: { wait: WaitingOn }) {
  const kind = who === 'person' ? 'asks' : who === 'money' ? 'failed' : 'quiet'
  const sign = who === 'person' ? 'asks' : who === 'money' ? 'failed' : 'queued'
  return (
    <Banner kind={kind} sign={sign} title={text.slice(0, 1).toUpperCase() + text.slice(1)}>
      <Quiet isSmall>
        {count > 1 && `${words.session.oneOf(count)} · `}
        {words.session.since} <Time at={since} />
      </Quiet>
    </Banner>
  )
}

/** The session's own news come with those of the workspace. */
export function useSessionNews(id: string): void {
  const client = useQueryClient()
  useEffect(() => {
    const ends = new AbortController()
    followWorkspace((news) => {
      if (news.kind === 'missed') void client.invalidateQueries(sessionQuery(id))
      if (news.kind !== 'changed' || news.id !== id) return
      const { status, waiting_on, title } = news.object as SessionSummary
      client.setQueryData(
        sessionQuery(id).queryKey,
        (known) => known && { ...known, status, waiting_on, title },
      )
      client.setQueryData(summaryQuery(id).queryKey, (known) => {
        const now = news.object as SessionSummary
        return known && { ...known, ...now, turns: now.turns ?? known.turns }
      })
    }, ends.signal)
    return () => ends.abort()
  }, [client, id])
}

type SessionTalkProps = {
  session: Session
  log: FollowedLog
  view: SessionTab
  thread?: string | undefined
  chosen: string | undefined
  onChoose: (id: string) => void
}

export function SessionTalk({ session, log, view, thread, chosen, onChoose }: SessionTalkProps) {
  if (log.state === 'loading') return <Skeleton />
  if (log.state === 'failed' && log.events.length === 0)
    return <Failure message={messageOf(log.error)} requestId={requestIdOf(log.error)} />
  const shared = { log, chosen, onChoose }
  return (
    <>
      {log.state === 'failed' && (
        <Banner sign="failed" title={words.session.notFollowed}>
          {messageOf(log.error)}
        </Banner>
      )}
      {view === 'talk' && <TalkView key={thread} {...shared} session={session} thread={thread} />}
      {view === 'timeline' && (
        <TimelinePane>
          <TimelineView {...shared} asked={openCallsOf(log.known)} />
        </TimelinePane>
      )}
      {view === 'events' && <EventsView {...shared} />}
      {view === 'find' && <FindView {...shared} session={session.id} />}
      <AskedDock session={session} log={log} />
      <ComposerBox key={session.id} session={session} />
    </>
  )
}
