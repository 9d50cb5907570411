/** Paths as a tree: folders open and close, the rest is chosen. */
import type { ReactNode } from 'react'
import { IconDown, IconRight } from './icons.tsx'

const row =
  'flex min-h-8 w-full items-center gap-1.5 py-1 pr-4 text-left outline-offset-[-2px] hover:bg-n2'
const indentPx = 14
/** Where the names of the outermost begin. */
const edgePx = 12

const padded = (depth: number, more = 0) => ({ paddingLeft: edgePx + depth * indentPx + more })

export const Tree = ({ label, children }: { label: string; children: ReactNode }) => (
  <ul aria-label={label}>{children}</ul>
)

export const TreeFolder = ({
  name,
  depth,
  isOpen,
  onToggle,
  children,
}: {
  name: string
  depth: number
  isOpen: boolean
  onToggle: () => void
  /** Its rows, while it is open. */
  children: ReactNode
}) => (
  <li>
    <button
      type="button"
      aria-expanded={isOpen}
      onClick={onToggle}
      style={padded(depth)}
      className={row}
    >
      {isOpen ? <IconDown className="text-n8" /> : <IconRight className="text-n8" />}
      <span dir="auto" className="min-w-0 truncate">
        {name}
      </span>
    </button>
    {isOpen && <ul>{children}</ul>}
  </li>
)

export const TreeLeaf = ({
  name,
  depth,
  isChosen,
  onChoose,
  end,
}: {
  name: string
  depth: number
  isChosen: boolean
  onChoose: () => void
  end?: ReactNode
}) => (
  <li>
    <button
      type="button"
      aria-pressed={isChosen}
      title={name}
      onClick={onChoose}
      style={padded(depth, 21)}
      className={`${row} ${isChosen ? 'bg-accent-quiet text-n11 hover:bg-accent-quiet' : ''}`}
    >
      <span dir="auto" className="min-w-0 flex-1 truncate">
        {name}
      </span>
      <span className="shrink-0 text-small text-n9">{end}</span>
    </button>
  </li>
)

/** A line of a tree that is no row: it comes, failed, or goes on. */
export const TreeNote = ({ depth, children }: { depth: number; children: ReactNode }) => (
  <li style={padded(depth, 21)} className="flex min-h-8 items-center py-1 pr-4 text-n9">
    {children}
  </li>
)
