//! What is bound to users and groups: command policies, users, partitions.

use super::super::attribute::Kind;
use super::super::make::resource;

resource! {
    /// A command policy that is asked about commands of a user, or of a group's users.
    pub struct CommandPolicyBinding "system user" {
        /// Name of the command policy to bind.
        policy: String = String::new(), Option("policyName", "policyname", Kind::Name);
        /// Its place among the policies here; the smallest is asked first.
        priority: u32 = 0, SecondWord("priority", "priority", Kind::Number { min: 0, max: u32::MAX });
    }
}

resource! {
    /// What else can be bound.
    pub struct UserBinding "system group" {
        /// User who belongs to the group.
        user: Option<String> = None, Option("userName", "username", Kind::Name);
        /// Partition of the appliance that is bound; there is one here, the default one.
        partition: Option<String> = None, Option("partitionName", "partitionname", Kind::Name).inert();
    }
}
