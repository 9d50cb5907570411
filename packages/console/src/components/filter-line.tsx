/** ChosenFilters typed in one line, shown as chips; what completes the word under the cursor stands below. */
import type { KeyboardEvent, ReactNode, Ref } from 'react'
import { useId, useState } from 'react'
import {
  completionsOf,
  lastWord,
  readFilterLine,
  shownValue,
  withoutFilter,
} from '../lib/filters.ts'
import type { ChosenFilters, Completion, FilterField } from '../lib/filters.ts'
import { words } from '../lib/words.ts'
import { IconClose } from './icons.tsx'

type FilterLineProps = {
  label: string
  placeholder: string
  fields: readonly FilterField[]
  filters: ChosenFilters
  onChange: (filters: ChosenFilters) => void
  /** Stands at the end of the line. */
  end?: ReactNode
  inputRef?: Ref<HTMLInputElement>
  /** Somebody begins to type: what completes may be needed. */
  onTyping?: () => void
}

const nothingOffered = { offered: [], isOptional: true } as const

/** What is typed, what completes it, and what the keys of the field do. */
function useFilterInput({ fields, filters, onChange, onTyping }: FilterLineProps) {
  const [line, setLine] = useState('')
  const [problem, setProblem] = useState<string>()
  /** Undefined: nobody has gone through what is offered. */
  const [moved, setMoved] = useState<number>()
  const [isFocused, setFocused] = useState(false)
  const { offered, isOptional } = isFocused ? completionsOf(line, fields) : nothingOffered
  const at = moved ?? (isOptional || line === '' ? -1 : 0)
  const without = (name: string) => onChange(withoutFilter(filters, name, fields))

  function write(text: string): void {
    setLine(text)
    setProblem(undefined)
    setMoved(undefined)
  }

  function take(text: string): void {
    const read = readFilterLine(text, fields, filters)
    if (read.problem !== undefined) return setProblem(read.problem)
    write('')
    onChange(read.filters)
  }

  function complete({ word }: Completion): void {
    const before = line.slice(0, line.length - lastWord(line).length)
    if (word.endsWith(':')) write(before + word)
    else take(before + word)
  }

  /** Each returns true when it did something, and the browser is to do nothing. */
  const presses: Record<string, (event: KeyboardEvent<HTMLInputElement>) => boolean> = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Enter() {
      const chosen = offered[at]
      if (chosen) complete(chosen)
      else take(line)
      return true
    },
    Tab({ shiftKey }) {
      const first = offered[Math.max(0, at)]
      if (!first || line === '' || shiftKey) return false
      complete(first)
      return true
    },
    Escape({ currentTarget }) {
      if (line === '') currentTarget.blur()
      write('')
      return true
    },
    Backspace() {
      const last = Object.keys(filters).at(-1)
      if (line !== '' || last === undefined) return false
      without(last)
      return true
    },
  }

  function step(by: number): boolean {
    const from = at < 0 && by < 0 ? 0 : at
    if (offered.length > 0) setMoved((from + by + offered.length) % offered.length)
    return offered.length > 0
  }

  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (!event.nativeEvent.isComposing && presses[event.key]?.(event)) event.preventDefault()
  }
  const focus = (isNow: boolean) => {
    setFocused(isNow)
    if (isNow) onTyping?.()
  }
  return { line, problem, at, offered, write, complete, without, press, focus }
}

export function FilterLine(props: FilterLineProps) {
  const { label, placeholder, fields, filters, end, inputRef } = props
  const input = useFilterInput(props)
  const { line, problem, at, offered } = input
  const id = useId()
  return (
    <div className="relative shrink-0 border-b">
      <div className="flex min-h-11 flex-wrap items-center gap-1.5 px-4 py-1.5">
        {Object.entries(filters).map(([name, value]) => (
          <Chip
            key={name}
            name={name}
            value={valueOf(fields, name, value)}
            onRemove={() => input.without(name)}
          />
        ))}
        <input
          ref={inputRef}
          value={line}
          placeholder={placeholder}
          role="combobox"
          aria-label={label}
          aria-expanded={offered.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={offered[at] ? `${id}-${at}` : undefined}
          aria-autocomplete="list"
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : `${id}-problem`}
          autoComplete="off"
          spellCheck={false}
          onFocus={() => input.focus(true)}
          onBlur={() => input.focus(false)}
          onChange={({ target }) => input.write(target.value)}
          onKeyDown={input.press}
          className="h-7 min-w-[180px] flex-1 bg-transparent px-1 text-n11 outline-none"
        />
        {end !== undefined && (
          <div className="ml-auto flex flex-wrap items-center gap-1.5">{end}</div>
        )}
      </div>
      {problem !== undefined && (
        <p id={`${id}-problem`} role="alert" className="px-4 pb-2 text-small text-failed">
          {problem}
        </p>
      )}
      <Completions id={id} label={label} offered={offered} at={at} onChoose={input.complete} />
    </div>
  )
}

const valueOf = (fields: readonly FilterField[], name: string, value: string): string => {
  const field = fields.find((each) => each.name === name)
  return field ? shownValue(field, value) : value
}

const Completions = ({
  id,
  label,
  offered,
  at,
  onChoose,
}: {
  id: string
  label: string
  offered: readonly Completion[]
  at: number
  onChoose: (chosen: Completion) => void
}) => (
  <div
    id={`${id}-list`}
    role="listbox"
    aria-label={label}
    hidden={offered.length === 0}
    className="absolute top-full left-4 z-10 -mt-1 max-h-[min(440px,60vh)] max-w-[calc(100%-32px)] min-w-[220px] overflow-auto rounded-panel border bg-float p-1 shadow-float"
  >
    {offered.map((each, index) => (
      <div
        key={each.word}
        id={`${id}-${index}`}
        role="option"
        tabIndex={-1}
        aria-selected={index === at}
        onPointerDown={(event) => {
          event.preventDefault()
          onChoose(each)
        }}
        className={`flex min-h-7 cursor-default items-center gap-4 rounded-[5px] px-2 whitespace-nowrap ${index === at ? 'bg-n4 text-n11' : 'hover:bg-n3'}`}
      >
        <span className="min-w-0 truncate">{each.label}</span>
        {each.beside !== undefined && (
          <span className="ml-auto truncate text-small text-n9">{each.beside}</span>
        )}
      </div>
    ))}
  </div>
)

export const Chip = ({
  name,
  value,
  onRemove,
}: {
  name: string
  value: string
  onRemove?: () => void
}) => (
  <span className="inline-flex h-[22px] max-w-full items-center overflow-hidden rounded-[5px] border bg-n2 text-small whitespace-nowrap text-n9">
    <span className="pl-1.5">{name}</span>
    <b className="min-w-0 truncate px-1.5 pl-1 font-medium text-n11">
      {value.replaceAll(',', ', ')}
    </b>
    {onRemove && (
      <button
        type="button"
        aria-label={words.filter.removeChip(name)}
        onClick={onRemove}
        className="grid h-full w-5 place-items-center text-n8 outline-offset-[-2px] hover:bg-n4 hover:text-n11"
      >
        <IconClose className="size-3" />
      </button>
    )}
  </span>
)

/** A view that was saved: a click shows it, another one removes it. */
export const ChipButton = ({
  isChosen,
  onChoose,
  removeLabel,
  onRemove,
  children,
}: {
  isChosen: boolean
  onChoose: () => void
  removeLabel: string
  onRemove: () => void
  children: string
}) => (
  <span
    className={`inline-flex h-[22px] max-w-full items-center overflow-hidden rounded-[5px] border text-small whitespace-nowrap ${isChosen ? 'border-accent bg-accent-quiet text-n11' : 'bg-n1 text-n10'}`}
  >
    <button
      type="button"
      aria-pressed={isChosen}
      title={children}
      onClick={onChoose}
      className="h-full min-w-0 truncate px-2 outline-offset-[-2px] hover:text-n11"
    >
      {children}
    </button>
    <button
      type="button"
      aria-label={removeLabel}
      onClick={onRemove}
      className="grid h-full w-5 place-items-center text-n8 outline-offset-[-2px] hover:bg-n4 hover:text-n11"
    >
      <IconClose className="size-3" />
    </button>
  </span>
)
