import { CI_ROUNDS } from './nemesis/rounds.js';
import { nemesisSuite } from './nemesis/suite.js';

nemesisSuite(CI_ROUNDS.embedded.fleet, CI_ROUNDS.embedded.rounds);
