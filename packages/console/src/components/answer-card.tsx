/** An agent asks for an answer: a question of its own, or the result of a tool that a person has. */
import type { KeyboardEvent } from 'react'
import { useState } from 'react'
import { words } from '../lib/words.ts'
import { AskingCard } from './asking-card.tsx'
import { Button } from './button.tsx'
import { HiddenShown } from './hidden-shown.tsx'

type AnswerCardProps = {
  id: string
  name: string
  /** The question, or the input of the call. */
  input: string
  isQuestion: boolean
  isSending: boolean
  /** Why this person may not answer. */
  offBecause?: string | undefined
  onAnswer: (text: string) => void
}

export function AnswerCard(props: AnswerCardProps) {
  const { id, name, input, isQuestion, isSending, offBecause, onAnswer } = props
  const [text, setText] = useState('')
  const says = isQuestion ? words.session.asksQuestion : words.session.asksResult
  const send = () => {
    if (text.trim() !== '' && !isSending && offBecause === undefined) onAnswer(text.trim())
  }
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing || event.key !== 'Enter') return
    if (!event.metaKey && !event.ctrlKey) return
    event.preventDefault()
    send()
  }
  return (
    <AskingCard id={id} name={name} says={says}>
      <pre
        tabIndex={0}
        aria-label={isQuestion ? words.session.question : words.approvalInput}
        className={`max-h-[40vh] overflow-auto rounded-base border bg-n1 px-3 py-2 whitespace-pre-wrap text-n11 ${isQuestion ? 'font-sans text-read' : 'font-mono text-small leading-[1.6]'}`}
      >
        <HiddenShown text={input} />
      </pre>
      <textarea
        value={text}
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        placeholder={offBecause ?? words.session.answerHint}
        aria-label={words.session.answer}
        disabled={offBecause !== undefined}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={press}
        className="w-full resize-none rounded-base border border-n6 bg-n1 px-2.5 py-1.5 text-n11"
      />
      <div className="flex justify-end max-phone:[&>button]:h-11 max-phone:[&>button]:flex-1">
        <Button
          kind="yes"
          keys={words.session.sendKeys}
          isBusy={isSending}
          offBecause={offBecause ?? (text.trim() === '' ? words.session.answerHint : undefined)}
          onClick={send}
        >
          {isSending ? words.session.answering : words.session.answer}
        </Button>
      </div>
    </AskingCard>
  )
}
