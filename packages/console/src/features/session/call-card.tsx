/** A tool call in the talk. What is long is fetched when the card is opened. */
import { useState } from 'react'
import { Time } from '../../components/figures.tsx'
import { Quiet } from '../../components/layout.tsx'
import { ToolCard } from '../../components/tool-card.tsx'
import { talkWords } from '../../lib/session/talk-words.ts'
import { words } from '../../lib/words.ts'
import type { ToolCall } from './conversation.ts'
import { isOvertaken } from './decided-here.ts'
import type { FollowedOutputs } from './live-outputs.ts'
import { useOutput } from './live-outputs.ts'
import { inputText, summaryOf } from './texts.ts'
import { useWholeInput, useWholeResult } from './whole-event.ts'

type CallCardProps = {
  call: ToolCall
  session: string
  isRunning: boolean
  outputs: FollowedOutputs
  isChosen: boolean
  onChoose: () => void
}

export function CallCard(props: CallCardProps) {
  const { call, session, isRunning, outputs, isChosen, onChoose } = props
  const [isOpen, setOpen] = useState(false)
  const { input } = useWholeInput(session, call, isOpen)
  const whole = useWholeResult(session, call, isOpen)
  const output = useOutput(outputs, call.id)
  const { id, name, result } = call
  // What a person has denied or interrupted is no failure of the tool.
  const isStopped = call.decision?.isAllowed === false || call.isInterrupted
  return (
    <ToolCard
      id={id}
      name={name}
      summary={summaryOf(call.input)}
      input={inputText(input)}
      change={call.isCut && !isOpen ? undefined : changeOf(call.name, input)}
      result={result && { ...result, ...whole, isError: result.isError && !isStopped }}
      runningFrom={isRunning ? call.from : undefined}
      output={output}
      note={<DecisionNote call={call} />}
      isChosen={isChosen}
      isOpen={isOpen}
      onOpen={(next) => {
        setOpen(next)
        onChoose()
      }}
    />
  )
}

/** What a call changes in a file, where its input says it. */
function changeOf(name: string, input: Record<string, unknown>) {
  const { file_path: path, old_string: before, new_string: after, content } = input
  const title = String(path)
  if (name === 'edit' && typeof before === 'string' && typeof after === 'string')
    return { title, before, after }
  return name === 'write' && typeof content === 'string'
    ? { title, before: '', after: content }
    : undefined
}

function DecisionNote({ call: { id, decision, isInterrupted, wasAsked } }: { call: ToolCall }) {
  if (!decision)
    return isInterrupted ? (
      <Quiet isSmall>{wasAsked ? talkWords.retired : talkWords.stopped}</Quiet>
    ) : null
  const { isAllowed, reason, at } = decision
  const word = isAllowed ? words.session.allowed : words.session.denied
  const because = isOvertaken(id, isAllowed) ? words.session.decidedBefore : reason
  return (
    <Quiet isSmall>
      {because === undefined ? word : `${word}: ${because}`} · <Time at={at} form="clock" />
    </Quiet>
  )
}
