import type { ReactNode } from 'react'
import type { ApiCall } from '../lib/request/api-call.ts'

export const Form = ({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) => (
  <form
    noValidate
    onSubmit={(event) => {
      event.preventDefault()
      onSubmit()
    }}
    className="grid gap-4"
  >
    {children}
  </form>
)

/** A box of words above a form. */
export const FormHead = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className="grid gap-1">
    <span
      aria-hidden="true"
      className="mb-3 grid size-7 place-items-center rounded-panel bg-n11 font-bold text-n1"
    >
      S
    </span>
    <h1 className="text-title font-semibold tracking-[-0.01em] text-n11">{title}</h1>
    <p className="text-n9">{children}</p>
  </div>
)

export const FormFoot = ({ href, children }: { href: string; children: ReactNode }) => (
  <a href={href} className="text-accent hover:underline">
    {children}
  </a>
)

/** What sends a small form, wherever it stands. */
export type SendProps = {
  title: string
  call: ApiCall
  /** A verb and its object. */
  verb: string
  isBusy: boolean
  /** Why it cannot be sent. */
  offBecause: string | undefined
  /** What is wrong and belongs to none of the fields. */
  problem: string | undefined
  onSubmit: () => void
  children: ReactNode
}
