/** The pieces of the rail. Folded, names stand in titles and for screen readers alone. */
import { Link } from '@tanstack/react-router'
import type { LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { IconChoose } from './icons.tsx'

type RailItemProps = {
  to: LinkProps['to']
  icon: ReactNode
  name: string
  isFolded: boolean
  /** What waits for people; nothing for 0. */
  count?: number
}

export const RailItem = ({ to, icon, name, isFolded, count = 0 }: RailItemProps) => (
  <Link
    to={to}
    title={isFolded ? name : undefined}
    className={`flex h-7 shrink-0 items-center gap-2 rounded-base text-n9 hover:bg-n3 hover:text-n11 aria-[current=page]:bg-n4 aria-[current=page]:font-medium aria-[current=page]:text-n11 ${isFolded ? 'justify-center' : 'px-2'}`}
  >
    {icon}
    <span className={isFolded ? 'sr-only' : 'truncate'}>{name}</span>
    {count > 0 && !isFolded && (
      <span className="ml-auto min-w-[18px] rounded-full bg-waiting-quiet px-1.5 text-center text-tiny leading-[17px] font-semibold text-waiting">
        {count}
      </span>
    )}
  </Link>
)

export const RailGroup = ({ name, isFolded }: { name: string; isFolded: boolean }) =>
  isFolded ? (
    <hr className="mx-2 my-2 border-n5" />
  ) : (
    <p className="mx-2 mt-3.5 mb-1 text-tiny text-n8">{name}</p>
  )

/** The face of the workspace; with `isChoice` it opens a menu. */
export const WorkspaceFace = ({
  name,
  isFolded,
  isChoice,
}: {
  name: string
  isFolded: boolean
  isChoice: boolean
}) => (
  <span
    title={name}
    className={`mb-2 flex h-9 w-full items-center gap-2 rounded-base text-left font-semibold text-n11 ${isFolded ? 'justify-center' : 'px-2'} ${isChoice ? 'hover:bg-n3' : ''}`}
  >
    <span
      aria-hidden="true"
      className="grid size-[18px] shrink-0 place-items-center rounded-[5px] bg-n11 text-tiny font-bold text-n1"
    >
      {(name[0] ?? 'S').toUpperCase()}
    </span>
    <span className={isFolded ? 'sr-only' : 'min-w-0 flex-1 truncate'}>{name}</span>
    {isChoice && !isFolded && <IconChoose className="text-n8" />}
  </span>
)

export const PersonFace = ({
  name,
  role,
  isFolded,
}: {
  name: string
  role: string
  isFolded: boolean
}) => (
  <span
    title={isFolded ? `${name} · ${role}` : undefined}
    className={`flex h-8 min-w-0 items-center gap-2 rounded-base text-left whitespace-nowrap text-n11 hover:bg-n3 ${isFolded ? 'justify-center' : 'px-1.5'}`}
  >
    <span
      aria-hidden="true"
      className="grid size-[22px] shrink-0 place-items-center rounded-full bg-n4 text-[10px] font-semibold text-n10"
    >
      {initialsOf(name)}
    </span>
    <span className={isFolded ? 'sr-only' : 'truncate'}>{name}</span>
    <span className={isFolded ? 'sr-only' : 'shrink-0 text-small text-n9'}>{role}</span>
  </span>
)

function initialsOf(name: string): string {
  const parts = name.split(/\s+/).filter(Boolean)
  return [parts[0], parts.length > 1 ? parts.at(-1) : undefined]
    .map((part) => part?.[0]?.toUpperCase() ?? '')
    .join('')
}

export const RailFoot = ({ isFolded, children }: { isFolded: boolean; children: ReactNode }) => (
  <footer
    className={`mt-auto flex shrink-0 gap-1 pt-3 ${isFolded ? 'flex-col items-center' : 'items-center'}`}
  >
    {children}
  </footer>
)

export const RailButton = ({
  icon,
  label,
  onClick,
}: {
  icon: ReactNode
  label: string
  onClick: () => void
}) => (
  <button
    type="button"
    aria-label={label}
    title={label}
    onClick={onClick}
    className="grid size-7 shrink-0 place-items-center rounded-base text-n9 hover:bg-n3 hover:text-n11"
  >
    {icon}
  </button>
)

export const RailPages = ({ label, children }: { label: string; children: ReactNode }) => (
  <nav aria-label={label} className="contents">
    {children}
  </nav>
)
