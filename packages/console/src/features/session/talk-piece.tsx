/** One piece of the conversation: what was said, thought and done, or what happened between. */
import type { ReactNode } from 'react'
import { memo, useState } from 'react'
import { FailureNote, Note, Thought } from '../../components/message.tsx'
import { ToolCards, ToolRun } from '../../components/tool-card.tsx'
import { formatTokens } from '../../lib/format/numbers.ts'
import { talkWords } from '../../lib/session/talk-words.ts'
import { words } from '../../lib/words.ts'
import type { AskingSession } from './asked-call.tsx'
import { AskedAnswer, AskedCall } from './asked-call.tsx'
import { CallCard } from './call-card.tsx'
import type { ShownCompaction, TalkItem, ToolCall } from './conversation.ts'
import type { FollowedOutputs } from './live-outputs.ts'
import { runsOf } from './pieces.ts'
import { SaidItem } from './said-item.tsx'
import { summaryOf } from './texts.ts'

type TalkPieceProps = {
  item: TalkItem
  session: AskingSession
  isRunning: boolean
  /** The agents of child threads. */
  names: ReadonlyMap<string, string>
  outputs: FollowedOutputs
  /** The piece that is marked, where it is this one or one of its calls. */
  chosen: string | undefined
  /** Whether the cards that ask stand elsewhere on the page. */
  hidesAsked: boolean
  onChoose: (id: string) => void
}

/** Text that comes draws the newest piece alone. */
export const TalkPiece = memo(function TalkPiece(props: TalkPieceProps) {
  const { item, session, chosen, onChoose } = props
  if (item.kind === 'tools') return <Calls {...props} calls={item.calls} />
  const mark = { id: item.id, isChosen: chosen === item.id, onChoose: () => onChoose(item.id) }
  switch (item.kind) {
    case 'said':
      return <SaidItem item={item} session={session.id} agent={session.agent.name} {...mark} />
    case 'thought':
      return <Thought title={words.session.thinking} text={item.text} {...mark} />
    case 'told': {
      const name = item.agent ?? talkWords.mainAgent
      const title = item.way === 'to' ? talkWords.toThread(name) : talkWords.fromThread(name)
      return <Thought title={title} text={item.text} {...mark} />
    }
    case 'failed':
      return item.ends === undefined ? (
        <Note {...mark}>{talkWords.goesOn(item.text)}</Note>
      ) : (
        <FailureNote title={talkWords.failedWhole[item.ends]} at={item.at} {...mark}>
          {item.text}
        </FailureNote>
      )
    case 'noted':
      return <Note {...mark}>{noteOf(item.text)}</Note>
    case 'compacted':
      return <Compacted compaction={item.compaction} {...mark} />
    case 'other':
      return (
        <Note {...mark}>
          {item.type}
          {item.text !== '' && ` · ${item.text}`}
        </Note>
      )
  }
})

type MarkProps = { id: string; isChosen: boolean; onChoose: () => void }

const noteOf = (text: string): string =>
  ({ interrupted: talkWords.interrupted, ended: talkWords.endedNote })[text] ?? text

/** What went and what stayed; the summary is there for those who want to read it. */
function Compacted({ compaction, ...mark }: { compaction: ShownCompaction } & MarkProps) {
  const { messages, tokens, summary, reason, strategy } = compaction
  const { compaction: own } = talkWords
  const parts = [
    ...(messages ? [own.messages(messages.replaced, messages.kept)] : []),
    ...(tokens ? [own.tokens(formatTokens(tokens.before), formatTokens(tokens.after))] : []),
    ...(reason === 'overflow' ? [own.overflow] : []),
    ...(strategy === null ? [own.unwritten] : []),
  ]
  const title = [own.title, ...parts].join(' · ')
  return summary === undefined ? (
    <Note {...mark}>{title}</Note>
  ) : (
    <Thought title={title} text={summary} {...mark} />
  )
}

function Calls({
  calls,
  session,
  isRunning,
  names,
  outputs,
  chosen,
  hidesAsked,
  onChoose,
}: { calls: readonly ToolCall[] } & Omit<TalkPieceProps, 'item'>) {
  const asked = calls.filter(({ isAsking }) => isAsking)
  const plain = calls.filter(({ isAsking }) => !isAsking)
  const card = (call: ToolCall) => (
    <CallCard
      key={call.id}
      call={call}
      session={session.id}
      isRunning={isRunning && !call.result}
      outputs={outputs}
      isChosen={call.id === chosen}
      onChoose={() => onChoose(call.id)}
    />
  )
  return (
    <>
      {plain.length > 0 && (
        <ToolCards>
          {runsOf(plain).map((run) =>
            run.isFolded ? (
              <Run key={run.calls[0]?.id} calls={run.calls} chosen={chosen} card={card} />
            ) : (
              run.calls.map(card)
            ),
          )}
        </ToolCards>
      )}
      {!hidesAsked &&
        asked.map((call) => <Asked key={call.id} call={call} session={session} names={names} />)}
    </>
  )
}

/** The card of a call that waits for a person. */
export const Asked = ({
  call,
  session,
  names,
}: {
  call: ToolCall
  session: AskingSession
  names: ReadonlyMap<string, string>
}) =>
  call.isCustom ? (
    <AskedAnswer call={call} session={session.id} />
  ) : (
    <AskedCall
      call={call}
      session={session}
      by={call.thread === undefined ? undefined : names.get(call.thread)}
    />
  )

const hasFailed = ({ result }: ToolCall): boolean =>
  result !== undefined && (result.isError || (result.exitCode ?? 0) !== 0)

/** Opens by itself for a call of it that was chosen elsewhere. */
function Run({
  calls,
  chosen,
  card,
}: {
  calls: readonly ToolCall[]
  chosen: string | undefined
  card: (call: ToolCall) => ReactNode
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <ToolRun
      name={calls[0]?.name ?? ''}
      count={calls.length}
      summary={calls.map(({ input }) => summaryOf(input)).join(', ')}
      failed={calls.filter(hasFailed).length}
      tookMs={calls.reduce((sum, { result }) => sum + (result?.tookMs ?? 0), 0)}
      isOpen={isOpen || chosen !== undefined}
      onOpen={setOpen}
    >
      {calls.map(card)}
    </ToolRun>
  )
}
