/** The conversation of a session or of one of its threads, as it is and as it comes. */
import { useMemo, useState } from 'react'
import { Message, Note, Thought } from '../../components/message.tsx'
import { Empty } from '../../components/notices.tsx'
import { Talk } from '../../components/talk.tsx'
import { ToolCards } from '../../components/tool-card.tsx'
import type { Session } from '../../lib/api/types.ts'
import { words } from '../../lib/words.ts'
import { AskedAnswer, AskedCall, AskedTogether } from './asked-call.tsx'
import { CallCard } from './call-card.tsx'
import type { TalkItem, ToolCall } from './conversation.ts'
import { openCallsOf, talkOf } from './conversation.ts'
import type { FollowedLog } from './log.ts'
import { SaidItem } from './said-item.tsx'
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

export function TalkView({ session, log, thread, chosen, onChoose }: TalkViewProps) {
  const items = useMemo(() => {
    const asked = openCallsOf(log.events)
    return thread === undefined
      ? talkOf(primaryEvents(log.events, asked), asked)
      : talkOf(eventsOfThread(log.events, thread), asked)
  }, [log.events, thread])
  const names = useMemo(
    () => new Map(threadsOf(log.events).map(({ id, name }) => [id, name])),
    [log.events],
  )
  const [most, setMost] = useState(shownAtFirst)
  const shown = items.slice(-most)
  const live = log.live.filter((each) => each.thread === thread)
  const waiting = thread === undefined ? log.waiting : []
  const hasMore = items.length > most || log.hasEarlier
  const earlier = () => {
    setMost(most + shownAtFirst)
    if (items.length <= most + shownAtFirst) log.loadEarlier()
  }
  const isEmpty = items.length === 0 && waiting.length === 0 && live.length === 0
  return (
    <Talk
      label={words.session.conversation}
      count={items.length}
      onEarlier={hasMore ? earlier : undefined}
    >
      {isEmpty && <Empty>{words.session.empty}</Empty>}
      {shown.map((item) => (
        <Piece
          key={item.id}
          item={item}
          session={session}
          names={names}
          outputs={log.outputs}
          chosen={chosen}
          onChoose={onChoose}
        />
      ))}
      {live.map(({ id, kind, text }) =>
        kind === 'message' ? (
          <Message key={id} isLive id={id} by="agent" name={session.agent.name} text={text} />
        ) : (
          <Thought key={id} title={`${words.session.thinking}…`} text={text} />
        ),
      )}
      {waiting.map((event) => (
        <WaitingItem key={event.id} event={event} session={session.id} />
      ))}
      {askedOfOneTool(items).map((calls) => (
        <AskedTogether key={calls[0]?.id} calls={calls} session={session.id} />
      ))}
    </Talk>
  )
}

/** Calls that wait for the same decision: two or more of one tool. */
function askedOfOneTool(items: readonly TalkItem[]): ToolCall[][] {
  const asked = items
    .flatMap((item) => (item.kind === 'tools' ? item.calls : []))
    .filter(({ isAsking, isCustom }) => isAsking && !isCustom)
  const kinds = Object.groupBy(asked, ({ name, thread }) => `${thread} ${name}`)
  return Object.values(kinds).flatMap((calls) => (calls && calls.length > 1 ? [calls] : []))
}

type PieceProps = Omit<TalkViewProps, 'log' | 'thread'> & {
  item: TalkItem
  /** The agents of child threads. */
  names: ReadonlyMap<string, string>
  outputs: FollowedLog['outputs']
}

function Piece({ item, session, names, outputs, chosen, onChoose }: PieceProps) {
  switch (item.kind) {
    case 'said':
      return (
        <SaidItem
          item={item}
          session={session}
          isChosen={item.id === chosen}
          onChoose={() => onChoose(item.id)}
        />
      )
    case 'thought':
      return <Thought title={words.session.thinking} text={item.text} />
    case 'told': {
      const name = item.agent ?? words.session.mainAgent
      const title =
        item.way === 'to' ? words.session.toThread(name) : words.session.fromThread(name)
      return <Thought title={title} text={item.text} />
    }
    case 'tools':
      return (
        <Calls
          calls={item.calls}
          session={session}
          names={names}
          outputs={outputs}
          chosen={chosen}
          onChoose={onChoose}
        />
      )
    case 'failed':
      return <Note isFailure>{item.text}</Note>
    case 'noted':
      return <Note>{noteOf(item.text)}</Note>
  }
}

const noteOf = (text: string): string =>
  ({ compacted: words.session.compacted, interrupted: words.session.interrupted })[text] ?? text

function Calls({
  calls,
  session,
  names,
  outputs,
  chosen,
  onChoose,
}: { calls: readonly ToolCall[] } & Omit<PieceProps, 'item'>) {
  const plain = calls.filter(({ isAsking }) => !isAsking)
  return (
    <>
      {plain.length > 0 && (
        <ToolCards>
          {plain.map((call) => (
            <CallCard
              key={call.id}
              call={call}
              session={session.id}
              isRunning={session.status === 'running' && !call.result}
              output={outputs.get(call.id)}
              isChosen={call.id === chosen}
              onChoose={() => onChoose(call.id)}
            />
          ))}
        </ToolCards>
      )}
      {calls
        .filter(({ isAsking }) => isAsking)
        .map((call) =>
          call.isCustom ? (
            <AskedAnswer key={call.id} call={call} session={session.id} />
          ) : (
            <AskedCall
              key={call.id}
              call={call}
              session={session}
              by={call.thread === undefined ? undefined : names.get(call.thread)}
            />
          ),
        )}
    </>
  )
}
