/** The conversation of a session or of one of its threads, as it is and as it comes. */
import { useMemo, useState } from 'react'
import { Message, Thought } from '../../components/message.tsx'
import { Empty } from '../../components/notices.tsx'
import { Talk } from '../../components/talk.tsx'
import type { Session } from '../../lib/api/types.ts'
import { useIsPhone } from '../../lib/narrow.ts'
import { useMoveKeys } from '../../lib/row-keys.ts'
import { useStore } from '../../lib/store.ts'
import { words } from '../../lib/words.ts'
import { AskedTogether } from './asked-call.tsx'
import type { TalkItem, ToolCall } from './conversation.ts'
import { openCallsOf, talkOf } from './conversation.ts'
import type { FollowedAnswers } from './live-answers.ts'
import type { FollowedLog } from './log.ts'
import { pieceOf, piecesOf } from './pieces.ts'
import { TalkPiece } from './talk-piece.tsx'
import { eventsOfThread, primaryEvents, threadsOf } from './threads.ts'
import { WaitingItem } from './waiting-item.tsx'

type TalkViewProps = {
  session: Pick<Session, 'id' | 'agent' | 'status' | 'vault_ids'>
  log: FollowedLog
  /** A child thread: its id. */
  thread?: string | undefined
  chosen: string | undefined
  onChoose: (id: string) => void
}

/** Pieces that are in the page at once; the others come when asked for. */
const shownAtFirst = 300
/** So many stand before a chosen piece that was not in the page. */
const before = 50

export function TalkView({ session, log, thread, chosen, onChoose }: TalkViewProps) {
  const { events, known } = log
  const items = useMemo(() => {
    const asked = openCallsOf(known)
    return thread === undefined
      ? talkOf(primaryEvents(events, asked), asked)
      : talkOf(eventsOfThread(events, thread), asked)
  }, [events, known, thread])
  const names = useMemo(() => new Map(threadsOf(known).map(({ id, name }) => [id, name])), [known])
  const piece = useMemo(() => pieceOf(items, events, chosen), [items, events, chosen])
  const { id, agent, vault_ids } = session
  // What a session has used changes all the time, and draws no piece anew.
  const asking = useMemo(() => ({ id, agent, vault_ids }), [id, agent, vault_ids])
  const isPhone = useIsPhone()
  const { shown, hasMore, showEarlier, showNewest } = useShownItems(items, piece, log)
  usePieceKeys(items, piece, onChoose)
  const waiting = thread === undefined ? log.waiting : []
  const isEmpty = items.length === 0 && waiting.length === 0
  return (
    <Talk
      label={words.session.conversation}
      count={items.length}
      shown={piece}
      onEarlier={hasMore ? showEarlier : undefined}
      later={
        log.hasLater ? { newer: log.newer, onMore: log.loadLater, onNewest: showNewest } : undefined
      }
    >
      {isEmpty && <Empty>{words.session.empty}</Empty>}
      {shown.map((item) => (
        <TalkPiece
          key={item.id}
          item={item}
          session={asking}
          // What a part far back does not have the result of has long ended.
          isRunning={session.status === 'running' && !log.hasLater}
          names={names}
          outputs={log.outputs}
          // A piece is drawn anew when its own mark changes, not with each other one's.
          chosen={isOfItem(item, piece) ? piece : undefined}
          hidesAsked={isPhone}
          onChoose={onChoose}
        />
      ))}
      {!log.hasLater && (
        <>
          <LiveAnswers answers={log.live} agent={session.agent.name} thread={thread} />
          {waiting.map((event) => (
            <WaitingItem key={event.id} event={event} session={session.id} />
          ))}
          {askedOfOneTool(items).map((calls) => (
            <AskedTogether key={calls[0]?.id} calls={calls} session={session.id} />
          ))}
        </>
      )}
    </Talk>
  )
}

type LiveAnswersProps = { answers: FollowedAnswers; agent: string; thread: string | undefined }

const LiveAnswers = ({ answers, agent, thread }: LiveAnswersProps) =>
  useStore(answers)
    .filter((each) => each.thread === thread)
    .map(({ id, kind, text }) =>
      kind === 'message' ? (
        <Message key={id} isLive id={id} by="agent" name={agent} text={text} />
      ) : (
        <Thought key={id} title={`${words.session.thinking}…`} text={text} />
      ),
    )

const isOfItem = (item: TalkItem, piece: string | undefined): boolean =>
  piece !== undefined &&
  (item.kind === 'tools' ? item.calls.some(({ id }) => id === piece) : item.id === piece)

/** The newest pieces, or those from the one on that somebody has gone back to. */
function useShownItems(items: readonly TalkItem[], piece: string | undefined, log: FollowedLog) {
  const [from, setFrom] = useState<string>()
  const usual = log.hasLater ? 0 : Math.max(0, items.length - shownAtFirst)
  const kept = from === undefined ? -1 : items.findIndex((item) => isOfItem(item, from))
  const at = kept === -1 ? usual : Math.min(kept, usual)
  const wanted = piece === undefined ? -1 : items.findIndex((item) => isOfItem(item, piece))
  // What is read stays in the page when the part far back becomes one with the newest events.
  const begin = log.hasLater
    ? items[0]?.id
    : wanted !== -1 && wanted < at
      ? items[Math.max(0, wanted - before)]?.id
      : from
  if (begin !== from) setFrom(begin)
  return {
    shown: items.slice(at),
    hasMore: at > 0 || log.hasEarlier,
    showEarlier: () => {
      if (at < shownAtFirst && log.hasEarlier) log.loadEarlier()
      setFrom(items[Math.max(0, at - shownAtFirst)]?.id)
    },
    showNewest: () => {
      setFrom(undefined)
      log.showNewest()
    },
  }
}

/** `j` and `k` go through the pieces. */
function usePieceKeys(
  items: readonly TalkItem[],
  piece: string | undefined,
  onChoose: (id: string) => void,
): void {
  const pieces = useMemo(() => piecesOf(items), [items])
  useMoveKeys(pieces, piece, onChoose)
}

/** Calls that wait for the same decision: two or more of one tool. */
function askedOfOneTool(items: readonly TalkItem[]): ToolCall[][] {
  const asked = items
    .flatMap((item) => (item.kind === 'tools' ? item.calls : []))
    .filter(({ isAsking, isCustom }) => isAsking && !isCustom)
  const kinds = Object.groupBy(asked, ({ name, thread }) => `${thread} ${name}`)
  return Object.values(kinds).flatMap((calls) => (calls && calls.length > 1 ? [calls] : []))
}
