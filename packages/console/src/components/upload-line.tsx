import type { ReactNode } from 'react'

type UploadLineProps = {
  name: string
  /** From 0 to 1. */
  fraction: number
  /** Why it failed. */
  problem: string | undefined
  actions: ReactNode
}

/** A file on its way: how far it has come, or why it was refused. */
export const UploadLine = ({ name, fraction, problem, actions }: UploadLineProps) => (
  <div
    className={`flex min-h-9 flex-wrap items-center gap-x-3 border-b px-4 py-1 ${problem === undefined ? 'bg-n2' : 'bg-failed-quiet'}`}
  >
    <span dir="auto" className="min-w-0 max-w-[40%] truncate font-medium text-n11">
      {name}
    </span>
    {problem === undefined ? (
      <progress
        aria-label={name}
        value={fraction}
        className="h-1.5 min-w-0 flex-1 appearance-none overflow-hidden rounded-full bg-n4 [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-n4 [&::-webkit-progress-value]:bg-accent"
      />
    ) : (
      <span
        role="alert"
        className="min-w-0 flex-1 text-failed max-phone:order-last max-phone:basis-full"
      >
        {problem}
      </span>
    )}
    <span className="ml-auto flex shrink-0 gap-1.5">{actions}</span>
  </div>
)
