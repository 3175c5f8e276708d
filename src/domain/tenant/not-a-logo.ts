/** The text is not a logo. The message completes "logo …". */
export class NotALogo extends Error {
  override readonly name = 'NotALogo';
}
