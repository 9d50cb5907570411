/** A labelled field with its hint, and under it in words what is wrong. */
import type { KeyboardEvent, ReactNode } from 'react'
import { useId } from 'react'

type FieldProps = {
  label: string
  value: string
  onChange: (value: string) => void
  type?: 'text' | 'password' | 'number' | 'email' | 'date' | 'datetime-local'
  placeholder?: string
  hint?: string
  problem?: string | undefined
  /** What the number counts. */
  unit?: string
  isOff?: boolean
  isLong?: boolean
  /** The label is there for screen readers alone. */
  isLabelHidden?: boolean
  autoFocus?: boolean
  /** What a browser or a keeper of passwords may fill in. */
  fills?: 'current-password' | 'new-password'
  /** Ctrl and enter, in a long field. */
  onSubmit?: () => void
}

const box =
  'flex min-h-[30px] items-center gap-2 rounded-base border px-2.5 focus-within:outline-2 focus-within:-outline-offset-1 focus-within:outline-accent'

export const fieldBox = (state: { isWrong?: boolean; isOff?: boolean }): string =>
  `${box} ${state.isWrong ? 'border-failed' : state.isOff ? 'border-n4' : 'border-n6'} ${state.isOff ? 'bg-n2 text-n8' : 'bg-n1 text-n11'}`

export function Field(props: FieldProps) {
  const { label, value, onChange, type = 'text', placeholder, hint, problem, unit } = props
  const { isOff = false, isLong = false, isLabelHidden = false } = props
  const { autoFocus = false, fills, onSubmit } = props
  const press = (event: KeyboardEvent) => {
    const isSent = event.key === 'Enter' && (event.ctrlKey || event.metaKey)
    if (!isSent || !onSubmit || event.nativeEvent.isComposing) return
    event.preventDefault()
    onSubmit()
  }
  const id = useId()
  const about = `${id}-about`
  const shared = {
    id,
    value,
    placeholder,
    disabled: isOff,
    'aria-invalid': problem !== undefined,
    'aria-describedby': problem !== undefined || hint !== undefined ? about : undefined,
    // A browser offers to keep what stands in a password field; only this keeps it from that.
    autoComplete: fills ?? (type === 'password' ? 'new-password' : 'off'),
    spellCheck: isLong,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
    className:
      'min-w-0 flex-1 resize-none bg-transparent py-1 outline-none disabled:cursor-not-allowed',
  }
  return (
    <Labelled id={id} label={label} hint={hint} problem={problem} isLabelHidden={isLabelHidden}>
      <span className={fieldBox({ isWrong: problem !== undefined, isOff })}>
        {isLong ? (
          <textarea
            rows={4}
            autoFocus={autoFocus}
            onKeyDown={press}
            {...shared}
            className={`${shared.className} field-sizing-content max-h-[60vh] min-h-[92px] leading-[1.5] text-read`}
          />
        ) : (
          <input type={type} autoFocus={autoFocus} {...shared} />
        )}
        {unit !== undefined && <span className="text-n9">{unit}</span>}
      </span>
    </Labelled>
  )
}

export const Labelled = ({
  id,
  label,
  hint,
  problem,
  isLabelHidden = false,
  children,
}: {
  id: string
  label: string
  hint?: string | undefined
  problem?: string | undefined
  isLabelHidden?: boolean
  children: ReactNode
}) => (
  <div className="grid min-w-0 grid-cols-1 content-start gap-[5px]">
    <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'font-medium text-n11'}>
      {label}
    </label>
    {children}
    {(problem ?? hint) !== undefined && (
      <span
        id={`${id}-about`}
        role={problem === undefined ? undefined : 'alert'}
        className={`text-small ${problem === undefined ? 'text-n8' : 'text-failed'}`}
      >
        {problem ?? hint}
      </span>
    )}
  </div>
)
