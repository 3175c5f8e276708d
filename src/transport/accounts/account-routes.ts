import { ownAccountRoutes } from './own-account-routes.ts';
import { passwordRoutes } from './password-routes.ts';
import { secondFactorRoutes } from './second-factor-routes.ts';
import { type AccountRoute, type AccountRouteParts, createAccountSteps } from './steps.ts';

/** All routes of accounts: own account, passwords and second factors. */
export function accountRoutes(parts: AccountRouteParts): readonly AccountRoute[] {
  const steps = createAccountSteps(parts);
  return [...passwordRoutes(parts, steps), ...ownAccountRoutes(parts, steps), ...secondFactorRoutes(parts, steps)];
}
