/** Where a person writes to the agent. The draft stays until the service has taken it. */
import type { KeyboardEvent } from 'react'
import { words } from '../lib/words.ts'
import { Button } from './button.tsx'

type ComposerProps = {
  value: string
  onChange: (text: string) => void
  onSend: () => void
  isSending: boolean
  problem?: string | undefined
  offBecause?: string | undefined
}

export function Composer(props: ComposerProps) {
  const { value, onChange, onSend, isSending, problem, offBecause } = props
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // The enter that ends the input of a character is not for us.
    if (event.nativeEvent.isComposing || event.key !== 'Enter') return
    if (!event.metaKey && !event.ctrlKey) return
    event.preventDefault()
    if (value.trim() !== '' && offBecause === undefined) onSend()
  }
  return (
    <div className="shrink-0 border-t px-7 py-3 max-phone:px-3">
      <div className="mx-auto grid max-w-[704px] gap-1 rounded-panel border border-n6 bg-n1 p-2.5 focus-within:outline-2 focus-within:outline-accent">
        <textarea
          value={value}
          rows={Math.min(8, Math.max(1, value.split('\n').length))}
          placeholder={offBecause ?? `${words.session.write}…`}
          aria-label={words.session.write}
          disabled={offBecause !== undefined}
          onChange={({ target }) => onChange(target.value)}
          onKeyDown={press}
          className="w-full resize-none bg-transparent text-read text-n11 outline-none disabled:cursor-not-allowed"
        />
        <div className="flex items-center gap-2">
          <span className="min-w-0 flex-1 text-small text-failed" role="alert">
            {problem}
          </span>
          <Button
            size="small"
            kind={value.trim() === '' ? 'normal' : 'primary'}
            keys={words.session.sendKeys}
            isBusy={isSending}
            offBecause={offBecause ?? (value.trim() === '' ? words.session.write : undefined)}
            onClick={onSend}
          >
            {isSending ? words.session.sending : words.session.send}
          </Button>
        </div>
      </div>
    </div>
  )
}
