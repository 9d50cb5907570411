/** A message that waits for the turn before it: it can be changed and removed until it is read. */
import { useState } from 'react'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'
import { Message } from './message.tsx'

type WaitingMessageProps = {
  id: string
  at: string
  text: string
  isBusy: boolean
  offBecause?: string | undefined
  /** Calls back when the service has taken it: until then, what was written stays. */
  onChange: (text: string, onDone: () => void) => void
  onRemove: () => void
}

export function WaitingMessage(props: WaitingMessageProps) {
  const { id, at, text, isBusy, offBecause, onChange, onRemove } = props
  const [draft, setDraft] = useState<string>()
  const keep = () => {
    const next = draft?.trim() ?? ''
    if (next === '' || next === text) setDraft(undefined)
    else onChange(next, () => setDraft(undefined))
  }
  if (draft === undefined)
    return (
      <Message
        id={id}
        by="person"
        name={words.session.you}
        at={at}
        text={text}
        beside={
          <span className="flex flex-1 items-center gap-2">
            {words.session.waiting}
            <span className="ml-auto flex gap-1.5">
              <Button
                size="small"
                kind="plain"
                isBusy={isBusy}
                offBecause={offBecause}
                onClick={() => setDraft(text)}
              >
                {words.session.changeMessage}
              </Button>
              <Button
                size="small"
                kind="plain"
                isBusy={isBusy}
                offBecause={offBecause}
                onClick={onRemove}
              >
                {words.session.removeMessage}
              </Button>
            </span>
          </span>
        }
      />
    )
  return (
    <div data-event={id} className="grid gap-2 rounded-panel border border-n6 bg-n2 px-3.5 py-2.5">
      <textarea
        value={draft}
        rows={Math.min(8, Math.max(2, draft.split('\n').length))}
        aria-label={words.session.changeMessage}
        onChange={({ target }) => setDraft(target.value)}
        className="w-full resize-none bg-transparent text-read text-n11"
      />
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={() => setDraft(undefined)}>
          {words.session.keepMessage}
        </Button>
        <Button size="small" kind="primary" isBusy={isBusy} onClick={keep}>
          {words.session.changeMessage}
        </Button>
      </div>
    </div>
  )
}
