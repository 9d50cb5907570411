/** A link that looks like a button: it leads to another page. */
import { Link } from '@tanstack/react-router'
import type { LinkComponentProps } from '@tanstack/react-router'
import { buttonLook } from './button.tsx'
import type { ButtonProps } from './button.tsx'

type ButtonLinkProps = LinkComponentProps & Pick<ButtonProps, 'kind' | 'size'>

export const ButtonLink = ({ kind = 'normal', size = 'normal', ...to }: ButtonLinkProps) => (
  <Link {...to} className={buttonLook(kind, size)} />
)
