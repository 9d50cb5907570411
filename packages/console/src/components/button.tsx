import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import { Key } from './key.tsx'
import { Spinner } from './spinner.tsx'

type ButtonKind = 'primary' | 'yes' | 'normal' | 'danger' | 'plain'

const kinds: Record<ButtonKind, string> = {
  primary: 'bg-accent border-accent text-on-accent hover:bg-accent-hover hover:border-accent-hover',
  yes: 'bg-n11 border-n11 text-n1 hover:bg-n10 hover:border-n10',
  normal: 'bg-n1 border-n6 text-n10 hover:bg-n3',
  danger: 'bg-n1 border-failed text-failed hover:bg-failed-quiet',
  plain: 'bg-transparent border-transparent text-n9 hover:bg-n3 hover:text-n11',
}
const off = 'bg-n2 border-n4 text-n8 cursor-not-allowed'
const sizes = { small: 'h-6 px-2', normal: 'h-7 px-2.5', big: 'h-11 px-4 text-read' }

export type ButtonProps = Omit<ComponentProps<'button'>, 'className' | 'disabled'> & {
  kind?: ButtonKind
  size?: keyof typeof sizes
  /** The key that does the same. */
  keys?: string
  icon?: ReactNode
  /** The name of a button that shows its icon alone. */
  label?: string
  isBusy?: boolean
  /** Why the button is off; without a reason it is on. */
  offBecause?: string | undefined
}

const lookOf = (kind: ButtonKind, isOff: boolean): string =>
  isOff && kind !== 'plain' ? off : kinds[kind]

const base =
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-base border font-medium whitespace-nowrap select-none'

export const buttonLook = (kind: ButtonKind, size: keyof typeof sizes): string =>
  `${base} ${sizes[size]} ${kinds[kind]}`

/** Off, it stays in reach of the keyboard, so that its reason can be read. */
export function Button(props: ButtonProps) {
  const { kind = 'normal', size = 'normal', keys, icon, label, isBusy = false } = props
  const { offBecause, children, onClick, title, ...rest } = omit(props)
  const isOff = offBecause !== undefined
  const isStill = isOff || isBusy
  const shape = label === undefined ? sizes[size] : 'w-7 h-7'
  return (
    <button
      type="button"
      {...rest}
      aria-disabled={isStill || undefined}
      aria-busy={isBusy || undefined}
      aria-label={label}
      title={offBecause ?? title ?? label}
      onClick={isStill ? stay : onClick}
      className={`${base} ${shape} ${lookOf(kind, isOff)}`}
    >
      {isBusy ? <Spinner /> : icon}
      {children}
      {keys !== undefined && !isBusy && (
        <Key of={keys} isOnFill={kind === 'primary' || kind === 'yes'} />
      )}
    </button>
  )
}

const stay = (event: MouseEvent): void => event.preventDefault()

const omit = ({
  kind: _kind,
  size: _size,
  keys: _keys,
  icon: _icon,
  label: _label,
  isBusy: _isBusy,
  ...rest
}: ButtonProps) => rest
