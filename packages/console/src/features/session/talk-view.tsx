/** The conversation of a session, as it is and as it comes. */
import { useMemo, useState } from 'react'
import { AnswerCard } from '../../components/answer-card.tsx'
import { ApprovalCard } from '../../components/approval-card.tsx'
import { Message, Note, Thought } from '../../components/message.tsx'
import { Empty } from '../../components/notices.tsx'
import { Talk } from '../../components/talk.tsx'
import { ToolCard, ToolCards } from '../../components/tool-card.tsx'
import { WaitingMessage } from '../../components/waiting-message.tsx'
import { Quiet } from '../../components/layout.tsx'
import type { SessionEvent } from '../../lib/api/types.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { words } from '../../lib/words.ts'
import type { TalkItem, ToolCall } from './conversation.ts'
import { talkOf } from './conversation.ts'
import type { FollowedLog } from './log.ts'
import { answerOf, decisionOf, useAllowance, usePost, useWaitingChange } from './session.ts'
import { summaryOf, textOfContent } from './texts.ts'

type TalkViewProps = {
  session: { id: string; agent: { name: string }; status: string }
  log: FollowedLog
  chosen: string | undefined
  onChoose: (id: string) => void
}

/** Pieces that are in the page at once; the others come when asked for. */
const shownAtFirst = 300

export function TalkView({ session, log, chosen, onChoose }: TalkViewProps) {
  const items = useMemo(() => talkOf(log.events), [log.events])
  const [most, setMost] = useState(shownAtFirst)
  const shown = items.slice(-most)
  const hasMore = items.length > most || log.hasEarlier
  const earlier = () => {
    setMost(most + shownAtFirst)
    if (items.length <= most + shownAtFirst) log.loadEarlier()
  }
  const isEmpty = items.length === 0 && log.waiting.length === 0 && log.live.length === 0
  return (
    <Talk
      label={words.session.conversation}
      count={items.length}
      onEarlier={hasMore ? earlier : undefined}
    >
      {isEmpty && <Empty>{words.session.empty}</Empty>}
      {shown.map((item) => (
        <Piece key={item.id} item={item} session={session} chosen={chosen} onChoose={onChoose} />
      ))}
      {log.live.map(({ id, kind, text }) =>
        kind === 'message' ? (
          <Message key={id} id={id} by="agent" name={session.agent.name} text={text} />
        ) : (
          <Thought key={id} title={`${words.session.thinking}…`} text={text} />
        ),
      )}
      {log.waiting.map((event) => (
        <Waiting key={event.id} event={event} session={session.id} />
      ))}
    </Talk>
  )
}

function Waiting({ event, session }: { event: SessionEvent; session: string }) {
  const change = useWaitingChange(session)
  const readOnly = useReadOnlyReason()
  const text =
    'content' in event && Array.isArray(event.content) ? textOfContent(event.content) : ''
  const apply = (next: string | undefined) =>
    change.mutate(
      { message: event.id, text: next },
      {
        onSuccess: (state) => {
          if (state === 'already_read') say({ kind: 'done', text: words.session.alreadyRead })
        },
        onError: ({ message }) => say({ kind: 'failed', text: message }),
      },
    )
  return (
    <WaitingMessage
      id={event.id}
      at={event.created_at}
      text={text}
      isBusy={change.isPending}
      offBecause={readOnly}
      onChange={apply}
      onRemove={() => apply(undefined)}
    />
  )
}

type PieceProps = Omit<TalkViewProps, 'log'> & { item: TalkItem }

function Piece({ item, session, chosen, onChoose }: PieceProps) {
  switch (item.kind) {
    case 'said':
      return (
        <Message
          id={item.id}
          by={item.by}
          name={nameOf(item.by, session.agent.name)}
          at={item.at}
          text={item.text}
          isChosen={item.id === chosen}
          onChoose={() => onChoose(item.id)}
        />
      )
    case 'thought':
      return <Thought title={words.session.thinking} text={item.text} />
    case 'tools':
      return <Calls calls={item.calls} session={session} chosen={chosen} onChoose={onChoose} />
    case 'failed':
      return <Note isFailure>{item.text}</Note>
    case 'noted':
      return <Note>{noteOf(item.text)}</Note>
  }
}

const nameOf = (by: 'person' | 'agent' | 'system', agent: string): string =>
  by === 'agent' ? agent : by === 'person' ? words.session.you : words.session.system

const noteOf = (text: string): string =>
  ({ compacted: words.session.compacted, interrupted: words.session.interrupted })[text] ?? text

const inputText = ({ input }: ToolCall): string => {
  const [first, ...others] = Object.entries(input)
  if (first && others.length === 0 && typeof first[1] === 'string') return first[1]
  return JSON.stringify(input, null, 2)
}

function Calls({
  calls,
  session,
  chosen,
  onChoose,
}: { calls: readonly ToolCall[] } & Omit<PieceProps, 'item'>) {
  const plain = calls.filter(({ isAsking }) => !isAsking)
  const isRunning = session.status === 'running'
  return (
    <>
      {plain.length > 0 && (
        <ToolCards>
          {plain.map((call) => (
            <ToolCard
              key={call.id}
              id={call.id}
              name={call.name}
              summary={summaryOf(call.input)}
              input={inputText(call)}
              result={call.result}
              isRunning={isRunning && !call.result}
              note={<DecisionNote call={call} />}
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
            <AskedCall key={call.id} call={call} session={session.id} />
          ),
        )}
    </>
  )
}

function DecisionNote({ call: { decision } }: { call: ToolCall }) {
  if (!decision) return null
  const word = decision.isAllowed ? words.session.allowed : words.session.denied
  return (
    <Quiet isSmall>{decision.reason === undefined ? word : `${word}: ${decision.reason}`}</Quiet>
  )
}

/** A question in words, or the input of a tool whose result a person can give. */
function AskedAnswer({ call, session }: { call: ToolCall; session: string }) {
  const post = usePost(session)
  const readOnly = useReadOnlyReason()
  const { question } = call.input
  const isQuestion = typeof question === 'string'
  return (
    <>
      <AnswerCard
        id={call.id}
        name={call.name}
        input={isQuestion ? question : inputText(call)}
        isQuestion={isQuestion}
        isSending={post.isPending || post.isSuccess}
        offBecause={readOnly}
        onAnswer={(text) => post.mutate([answerOf(call.id, text)])}
      />
      {post.isError && <Note isFailure>{post.error.message}</Note>}
    </>
  )
}

/** What was decided is shown when the service says so, never before. */
function AskedCall({ call, session }: { call: ToolCall; session: string }) {
  const post = usePost(session)
  const readOnly = useReadOnlyReason()
  const allowance = useAllowance(session)
  const [sending, setSending] = useState<'allow' | 'deny'>()
  const decide = (decision: { isAllowed: boolean; reason?: string | undefined }) => {
    setSending(decision.isAllowed ? 'allow' : 'deny')
    post.mutate([decisionOf(call.id, decision)], { onError: () => setSending(undefined) })
  }
  const allowAlways = () =>
    allowance.mutate(
      { tool: call.name, isAllowed: true },
      {
        onSuccess: () => decide({ isAllowed: true }),
        onError: ({ message }) => say({ kind: 'failed', text: message }),
      },
    )
  return (
    <>
      <ApprovalCard
        id={call.id}
        name={call.name}
        input={inputText(call)}
        sending={sending}
        offBecause={readOnly}
        onDecide={decide}
        onAllowAlways={allowAlways}
      />
      {post.isError && <Note isFailure>{post.error.message}</Note>}
    </>
  )
}
