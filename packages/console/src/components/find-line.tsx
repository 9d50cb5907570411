/** Where a person writes what is looked for, and what it was found in. */
import type { ReactNode, Ref } from 'react'
import { words } from '../lib/words.ts'
import { Check } from './choices.tsx'
import { IconSearch } from './icons.tsx'
import { ListChoice } from './layout.tsx'

type FindLineProps = {
  value: string
  onChange: (text: string) => void
  errorsOnly: boolean
  onErrorsOnly: (isOn: boolean) => void
  inputRef: Ref<HTMLInputElement>
  /** More choices. */
  children?: ReactNode
}

export function FindLine(props: FindLineProps) {
  const { value, onChange, errorsOnly, onErrorsOnly, inputRef, children } = props
  return (
    <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-3 border-b px-4 py-1.5">
      <IconSearch className="text-n8" />
      <input
        ref={inputRef}
        type="search"
        value={value}
        placeholder={words.session.findHint}
        aria-label={words.session.findHint}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
        className="h-7 min-w-[180px] flex-1 bg-transparent text-n11 outline-none"
      />
      <Check label={words.session.findErrors} isOn={errorsOnly} onChange={onErrorsOnly} />
      {children}
    </div>
  )
}

export const FoundLine = ({
  type,
  seq,
  before,
  text,
  after,
  isError,
  isChosen,
  onChoose,
}: {
  type: string
  seq: string
  before: string
  text: string
  after: string
  isError: boolean
  isChosen: boolean
  onChoose: () => void
}) => (
  <ListChoice
    isChosen={isChosen}
    onChoose={onChoose}
    end={<span className="text-small">{seq}</span>}
  >
    <span className={`mr-3 font-mono text-small ${isError ? 'text-failed' : 'text-n9'}`}>
      {type}
    </span>
    <span dir="auto">
      {before}
      {text !== '' && <mark className="rounded-sm bg-waiting-quiet text-n11">{text}</mark>}
      {after}
    </span>
  </ListChoice>
)
