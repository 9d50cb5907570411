/** A tool call in the talk. What is long is fetched when the card is opened. */
import { useState } from 'react'
import { Time } from '../../components/figures.tsx'
import { Quiet } from '../../components/layout.tsx'
import { ToolCard } from '../../components/tool-card.tsx'
import { words } from '../../lib/words.ts'
import type { ToolCall } from './conversation.ts'
import { isOvertaken } from './decided-here.ts'
import type { CallOutput } from './live-outputs.ts'
import { inputText, summaryOf } from './texts.ts'
import { useWholeInput, useWholeResult } from './whole-event.ts'

type CallCardProps = {
  call: ToolCall
  session: string
  isRunning: boolean
  /** What its command has written so far. */
  output: CallOutput | undefined
  isChosen: boolean
  onChoose: () => void
}

export function CallCard(props: CallCardProps) {
  const { call, session, isRunning, output, isChosen, onChoose } = props
  const [isOpen, setOpen] = useState(false)
  const { input } = useWholeInput(session, call, isOpen)
  const whole = useWholeResult(session, call, isOpen)
  const { id, name, result } = call
  const isDenied = call.decision?.isAllowed === false
  return (
    <ToolCard
      id={id}
      name={name}
      summary={summaryOf(call.input)}
      input={inputText(input)}
      change={changeOf(call.name, input)}
      // What a person has denied is no failure of the tool.
      result={result && { ...result, ...whole, isError: result.isError && !isDenied }}
      runningFrom={isRunning ? Date.parse(call.at) : undefined}
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

/** What an edit of a file changes, where the input says both. */
function changeOf(name: string, input: Record<string, unknown>) {
  const { file_path: path, old_string: before, new_string: after } = input
  const isEdit = name === 'edit' && typeof before === 'string' && typeof after === 'string'
  return isEdit ? { title: String(path), before, after } : undefined
}

function DecisionNote({ call: { id, decision } }: { call: ToolCall }) {
  if (!decision) return null
  const { isAllowed, reason, at } = decision
  const word = isAllowed ? words.session.allowed : words.session.denied
  const because = isOvertaken(id, isAllowed) ? words.session.decidedBefore : reason
  return (
    <Quiet isSmall>
      {because === undefined ? word : `${word}: ${because}`} · <Time at={at} />
    </Quiet>
  )
}
